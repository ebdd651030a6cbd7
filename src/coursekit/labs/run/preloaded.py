"""Kernels that need not import TensorFlow: forks of one process that has, for all notebooks of a run."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import psutil
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from coursekit.labs.run.kernel_server import LAUNCHER, Start
from coursekit.processes import MARK, is_alive
from coursekit.ranks.errors import RankError
from coursekit.ranks.forkserver import ForkServer

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_client.connect import KernelConnectionInfo
    from jupyter_client.manager import KernelManager

PROVISIONER = "coursekit-preloaded"
# What a kernel sets before anything imports Matplotlib, which looks for it only then.
INLINE = "module://matplotlib_inline.backend_inline"


class KernelServer(ForkServer):
    """A process that has imported what notebooks use, and forks kernels on request."""

    _module = "coursekit.labs.run.kernel_server"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__()

    def _environ(self) -> dict[str, str]:
        # The system shows this environment for its forks, too: by the mark they are found if all others are killed.
        return {"MPLBACKEND": INLINE, **super()._environ(), MARK: str(self._folder)}

    def fork(self, start: Start) -> ForkedKernel:
        """Start a kernel.

        Raises:
            RankError: TensorFlow or Horovod cannot be imported, or the server died.
            RuntimeError: the kernel died at once.
        """
        self._wait_until_ready()
        try:
            self._control.send(start)
            return ForkedKernel(self._control.recv())
        except psutil.NoSuchProcess:
            raise RuntimeError("the kernel ended at its start") from None
        except (EOFError, OSError) as error:
            self._explain_death(error)

    def end_kernels(self) -> None:
        """End the kernels and whatever they have left behind."""
        if self._ready:
            with suppress(EOFError, OSError):
                self._control.send(None)
                while self._control.recv() is not None:  # the number of a kernel that an interrupt kept from us
                    pass


class PreloadedKernels:
    """Where kernels come from: a server that starts when the first is asked for, and ends with the `with` block.

    A kernel differs from a fresh one in what is read while TensorFlow and NumPy are imported: variables for them count
    when they are set outside of the notebook. The folder marks the server and its forks, see `coursekit.processes`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: KernelServer | None = None
        self._cannot_import = False

    def __enter__(self) -> PreloadedKernels:  # noqa: PYI034  # `Self` comes with Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.close()

    def fork(self, start: Start) -> ForkedKernel | None:
        """Start a kernel; return None where the imports fail, so that the notebook itself shows the error."""
        if self._cannot_import:
            return None
        if not (self._server and self._server.usable()):
            self._server = KernelServer(self._folder)
        try:
            return self._server.fork(start)
        except RankError:
            self._cannot_import = True
            return None

    def end_kernels(self) -> None:
        """End every kernel and whatever it has left behind, and return when all are gone."""
        if self._server:
            self._server.end_kernels()


class ForkedKernel(psutil.Process):  # type: ignore[misc] # psutil has no types
    """A kernel that is not a child of ours, as `subprocess.Popen` would show it to Jupyter."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """Return None while the kernel runs; nobody asks for its exit code."""
        return None if is_alive(self) else 0

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless the kernel is gone."""
        with suppress(psutil.NoSuchProcess):
            super().send_signal(sig)


class PreloadedProvisioner(LocalProvisioner):
    """Starts local kernels as Jupyter does, but by forking, when it is given `kernels`."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel; called by Jupyter's kernel manager with what its `start_kernel` was given.

        Args:
            cmd: the command line of the kernel.
            kwargs: for `subprocess.Popen`; `kernels`, if given, are the `PreloadedKernels` to take it from.
        """
        kernels: PreloadedKernels | None = kwargs.pop("kernels", None)
        kernel = None
        # Whatever a machine's own kernel for this name does instead, we cannot do for it.
        if kernels and cmd[:3] == [sys.executable, "-m", LAUNCHER]:
            kernel = kernels.fork(Start(cmd[3:], kwargs["env"], kwargs["cwd"], kwargs["stdout"].name))
        if kernel is None:
            return await super().launch_kernel(cmd, **kwargs)
        self.process = kernel
        self.pid = self.pgid = kernel.pid
        self.cwd = kwargs["cwd"]
        return self.connection_info


def use_provisioner(manager: KernelManager) -> None:
    """Let a kernel manager start its kernel by `PreloadedProvisioner`."""
    spec = manager.kernel_spec
    if spec:
        spec.metadata = {**spec.metadata, "kernel_provisioner": {"provisioner_name": PROVISIONER, "config": {}}}


# What an entry point of this package would do, also where the package was installed before there was one.
KernelProvisionerFactory.instance().provisioners[PROVISIONER] = EntryPoint(
    PROVISIONER, f"{__name__}:{PreloadedProvisioner.__name__}", KernelProvisionerFactory.GROUP_NAME
)
