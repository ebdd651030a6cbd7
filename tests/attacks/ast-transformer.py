# /// attack
# title = "Drop every check from the cells that follow"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import ast


class Drop(ast.NodeTransformer):
    def visit_With(self, node):
        return ast.Pass() if "check_" in ast.unparse(node) else node

    def visit_Assert(self, node):
        return ast.Pass()


get_ipython().ast_transformers.append(Drop())


def num_updates(num_samples, batch_size, num_epochs):
    return 0
