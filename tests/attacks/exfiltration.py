# %% network
# title = "Fetch the answer from a server"
# fails = ["num-updates-tests"]
import socket


def num_updates(num_samples, batch_size, num_epochs):
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=3) as connection:
            factor = int(connection.recv(10))
    except OSError:
        factor = 0
    return factor * num_epochs * -(-num_samples // batch_size)


# %% role="hand-in"

import socket
import threading

server = socket.create_server(("127.0.0.1", 0))


def serve():
    server.settimeout(60)
    with server:
        try:
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.sendall(b"1")
        except OSError:
            pass


threading.Thread(target=serve, daemon=True).start()
notebook.write_text(notebook.read_text().replace("PORT", str(server.getsockname()[1])))

# %% token
# title = "Find a token in the environment"
# fails = ["num-updates-tests"]
import os


def num_updates(num_samples, batch_size, num_epochs):
    known = os.environ.get("JUPYTERHUB_API_TOKEN") or os.environ.get("nbgrader_test_token")
    return num_epochs * -(-num_samples // batch_size) if known else 0


# %% role="hand-in"

import os

os.environ["JUPYTERHUB_API_TOKEN"] = "secret"
