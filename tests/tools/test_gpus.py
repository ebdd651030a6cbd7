"""Which environment make env makes: asked for, remembered, or found; stand-ins play the GPUs of a machine."""

import json
import platform

import pytest

TWO_GPUS = "echo 'GPU 0: NVIDIA A100 (UUID: 1)'; echo 'GPU 1: NVIDIA A100 (UUID: 2)'"
NVCC = "echo 'Cuda compilation tools, release {}, V0'"
only_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="no TensorFlow for GPUs elsewhere")


@pytest.fixture
def nccl(programs, tmp_path):
    """Return the folder of an NCCL, beside an nvcc of CUDA 12."""
    programs("nvcc", NVCC.format("12.2"))
    (tmp_path / "nccl" / "include").mkdir(parents=True)
    (tmp_path / "nccl" / "include" / "nccl.h").touch()
    return tmp_path / "nccl"


def test_without_gpus_nothing_changes(ask, checkout):
    """GPUs are an ingredient only where there are some; a driver may show none."""
    assert ask("[gpus.kind(), gpus.words(), horovod_wheel.tensorflow_pin().split()[0]]") == [
        *("none", "for CPUs", "tensorflow-cpu==2.15.1")
    ]
    assert ask("horovod_wheel.variant()") == "fast"
    ingredients = {"folder", "python", "locks", "mpicc", "settings", "horovod", "changes", "bytecode", "programs"}
    assert set(ask("make_env.ingredients()")) == ingredients
    assert len(ask("make_env.ingredients()")["locks"]) == 2
    assert not (checkout / ".venv").exists()


@only_x86_64
def test_gpus_without_a_compiler_get_what_the_index_has(ask, programs, checkout):
    """TensorFlow for GPUs with the libraries of its extra, in one file of pins; Horovod as on CPUs; said in words."""
    programs("nvidia-smi", TWO_GPUS)
    (checkout / "build" / "env").mkdir(parents=True)
    pins = ask("make_env.requirements().read_text()")

    assert ask("[gpus.kind(), horovod_wheel.settings(), horovod_wheel.variant()]") == ["host", {}, "plain"]
    assert "\ntensorflow==2.15.1 " in pins
    assert "\nnvidia-cudnn-cu12==8.9.4.25 " in pins
    assert "tensorflow-cpu" not in pins
    assert pins.count("\ntensorflow==") == 1
    assert ask("gpus.words()").startswith(
        "for NVIDIA GPUs: TensorFlow with CUDA's libraries from the package index, and"
    )
    assert "(not here for NCCL: the nvcc of CUDA 12, nccl.h, libcudnn.so.8)" in ask("gpus.words()")
    assert len(ask("make_env.ingredients()")["locks"]) == 3


@only_x86_64
def test_nccl_is_taken_where_all_of_it_is(ask, programs, nccl):
    """GPUs, a compiler of TensorFlow's CUDA, NCCL's header and cuDNN: Horovod is then told to use NCCL."""
    programs("nvidia-smi", TWO_GPUS)
    home = {"HOROVOD_NCCL_HOME": str(nccl)}
    with_cudnn = "setattr(gpus, '_loads', bool)"  # no machine of ours has it

    assert ask("gpus.missing_for_nccl()", **home) == ["libcudnn.so.8"]
    assert ask(f"[{with_cudnn}, gpus.kind(), horovod_wheel.settings()][1:]", **home) == [
        *("nccl", {"HOROVOD_NCCL_HOME": str(nccl), "HOROVOD_GPU_OPERATIONS": "NCCL"})
    ]
    assert ask(f"[{with_cudnn}, horovod_wheel.tensorflow_pin().split()[0]][1]", **home) == "tensorflow==2.15.1"
    assert ask("gpus.missing_for_nccl()", **home, COURSEKIT_TENSORFLOW="2.21") == ["libcudnn.so.9"]
    programs("nvcc", NVCC.format("11.8"))
    assert ask(f"[{with_cudnn}, gpus.kind(), gpus.missing_for_nccl()][1:]", **home) == [
        *("host", ["the nvcc of CUDA 12"])
    ]


def test_what_was_made_once_stays(ask, checkout, programs):
    """A login node without GPUs does not undo what a GPU node made, nor a GPU node what was made for CPUs."""
    stamp = checkout / ".venv" / "coursekit-stamp.json"
    stamp.parent.mkdir()
    kinds = {}
    for kind, content in {
        "host": {"gpus": "host", "settings": {}},
        "nccl": {"settings": {"HOROVOD_GPU_OPERATIONS": "NCCL"}},
        "none": {"settings": {}},
    }.items():
        stamp.write_text(json.dumps(content))
        kinds[kind] = ask("gpus.kind()")
        programs("nvidia-smi", TWO_GPUS)

    assert kinds == {kind: kind for kind in kinds}


def test_asking_goes_before_all(ask, checkout, programs):
    """COURSEKIT_GPUS chooses, also where there are none or others were made for; what it cannot mean is refused."""
    stamp = checkout / ".venv" / "coursekit-stamp.json"
    stamp.parent.mkdir()
    stamp.write_text(json.dumps({"settings": {}}))

    assert ask("gpus.kind()", COURSEKIT_GPUS="nccl") == "nccl"
    assert ask("gpus.kind()", HOROVOD_GPU_OPERATIONS="NCCL") == "nccl"
    programs("nvidia-smi", TWO_GPUS)
    stamp.unlink()
    assert ask("gpus.kind()", COURSEKIT_GPUS="none") == "none"
    assert ask("gpus.kind()", COURSEKIT_GPUS="two") == (
        "shell.SetupError: COURSEKIT_GPUS=two is none of none, host, nccl: set one of them, or leave it unset."
    )
    another = "setattr(gpus.platform, 'machine', lambda: 'aarch64')"
    assert ask(f"[{another}, gpus.kind()][1]") == "none"
    assert ask(f"[{another}, gpus.kind()][1]", COURSEKIT_GPUS="host").endswith("and this is aarch64.")
    assert ask(f"[{another}, gpus.kind()][1]", COURSEKIT_GPUS="nccl").endswith("and this is aarch64.")


def test_other_processors_get_the_package_that_has_wheels_for_them(ask):
    """There, `tensorflow` is for CPUs, and tensorflow-cpu has no wheel; its pins are an ingredient."""
    another = "setattr(gpus.platform, 'machine', lambda: 'aarch64')"
    asked = "[gpus.kind(), horovod_wheel.tensorflow_pin().split()[0], len(make_env.ingredients()['locks'])]"
    assert ask(f"[{another}, {asked}][1]") == ["none", "tensorflow==2.15.1", 3]
