# /// attack
# title = "Print without end"
# lab = "01-sgd"
# class = "resource"
# catalogue = ["A23"]
# fails = ["num-updates-tests"]
# flags = ["OutputError"]
# baseline = "it fills the memory of this machine"
# ///

# %% role="answer" id="num-updates"

line = "x" * 1_000_000
while True:
    print(line)
