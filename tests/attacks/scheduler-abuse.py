# %% batch-system
# title = "Let the batch system do the work"
# fails = ["num-updates-tests"]
import subprocess


def num_updates(num_samples, batch_size, num_epochs):
    try:
        done = subprocess.run(["sbatch", "--wrap", "touch /tmp/@MARK@"], capture_output=True, text=True, timeout=5)
        subprocess.run(["scancel", "--user", "root"], timeout=5)
        return len(done.stdout)
    except OSError:
        return 0
