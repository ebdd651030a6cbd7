"""The kit's programs inside the sandbox: they run students' code, and hold nothing that a student must not know."""

import ast

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)  # what a cell defines
