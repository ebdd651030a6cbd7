"""The kit's programs inside the sandbox, which run students' code; they hold nothing that students must not see."""

import ast

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)  # definitions in a cell
