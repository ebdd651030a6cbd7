# /// attack
# title = "Print without end"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["OutputError"]
# ///

# %% role="answer" id="num-updates"

line = "x" * 1_000_000
while True:
    print(line)
