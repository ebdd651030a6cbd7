# /// attack
# title = "Send a numeric result to the notebook before the test fails"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    kernel = get_ipython().kernel
    content = {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1}
    kernel.send_response(kernel.iopub_socket, "execute_result", content)
    return 0
