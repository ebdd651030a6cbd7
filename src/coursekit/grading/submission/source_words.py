"""Words that honest answers do not need, by the kind of attempt that they hint at: for `source_signs`."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODULES = {
    "process": "subprocess multiprocessing signal pty psutil resource concurrent",
    "outlives": "threading _thread atexit sched",
    "network": "socket ssl urllib http requests ftplib smtplib xmlrpc telnetlib paramiko webbrowser",
    "introspection": "gc inspect ctypes cffi mmap dis faulthandler tracemalloc pdb bdb",
    "grader": "nbgrader nbconvert nbformat sqlite3 sqlalchemy coursekit.checks coursekit.drivers coursekit.course "
    "coursekit.grading",
    "notebook": "IPython ipykernel jupyter_client traitlets",
    "imports": "importlib imp pkgutil runpy zipimport site builtins sitecustomize usercustomize",
    "pickle": "pickle cloudpickle dill shelve marshal copyreg",
    "patched": "unittest mock",
}
CALLS = {
    "process": "os.fork os.forkpty os._exit os.abort os.kill os.killpg os.system os.popen os.posix_spawn os.setsid "
    "os.dup os.dup2 os.execv os.execve os.execvp os.execl os.spawnv os.spawnl os.setns os.unshare os.closerange "
    "sys.exit exit quit",
    "paths": "os.symlink os.link os.mkfifo os.chmod os.chroot os.listdir os.walk os.scandir shutil.rmtree",
    "introspection": "sys._getframe sys._current_frames sys.settrace sys.setprofile sys.setrecursionlimit "
    "threading.settrace globals locals vars",
    "imports": "sys.modules sys.meta_path sys.path sys.path_hooks __builtins__",
    "hidden code": "exec eval compile",
    "notebook": "get_ipython In _ih _oh sys.displayhook sys.excepthook",
    "memory": "os.memfd_create multiprocessing.shared_memory",
    "waiting": "time.sleep",
}
HIDDEN_MODULES = _words("os sys shutil subprocess socket ctypes builtins importlib")  # nobody needs them as np.os
ATTRIBUTES = {
    "introspection": _words(
        "__globals__ __closure__ __code__ __subclasses__ __mro__ __bases__ __builtins__ __traceback__ f_back f_locals "
        "f_globals f_code gi_frame cr_frame tb_frame tb_next cell_contents __dict__ __getattribute__ __loader__"
    ),
    "imports": _words("__file__"),
    "notebook": _words(
        "ast_transformers input_transformers input_transformers_post input_transformers_cleanup showtraceback "
        "_showtraceback set_custom_exc history_manager run_cell user_ns display_pub register_post_execute"
    ),
}
ODD_METHODS = _words(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __array__ __array_interface__ __array_struct__ "
    "__array_function__ __array_ufunc__ __array_finalize__ __float__ __int__ __index__ __bool__ __complex__ "
    "__reduce__ __reduce_ex__ __getstate__ __setstate__ __str__ __repr__ __format__ __hash__ __del__ "
    "__instancecheck__ __class__"
)
ODD_BASES = _words("float int complex bool str bytes np.ndarray numpy.ndarray np.float64 numpy.float64")
KIT_NAMES = _words("check require hand_in_report CheckError Fault AnswerError RankError")
PATCHED = _words("numpy np tensorflow tf horovod hvd hvd_keras keras os sys time math json")
ROOTS = "tmp|dev|etc|home|root|var|usr|opt|srv|mnt|sys|run|shared|data|boot|lib|bin|proc"
TEXTS = (
    ("introspection", re.compile(r"/proc\b|ptrace|/dev/mem")),
    ("grader", re.compile(r"NBGRADER|nbgrader|gradebook|autograded|HIDDEN TESTS|coursekit[./](checks|grading)")),
    ("scheduler", re.compile(r"\b(sbatch|srun|scancel|squeue|salloc|crontab|munge)\b")),
    (
        "imports",
        re.compile(r"sitecustomize|usercustomize|\.pth$|ipykernel_launcher|PYTHONPATH|PYTHONSTARTUP|LD_PRELOAD"),
    ),
    ("network", re.compile(r"^(https?|ftp)://|^\d+\.\d+\.\d+\.\d+$")),
    ("text", re.compile(r"\x1b|<script|javascript:|onerror\s*=|<iframe", re.IGNORECASE)),
    ("paths", re.compile(rf"^(/({ROOTS})\b|~/|\.\./)[^:]*$")),
)
