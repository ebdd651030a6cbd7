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


# %% magic-shell
# title = "Run programs by magics"
# fails = ["num-updates-tests"]

# !touch /tmp/@MARK@ ../@MARK@
# !squeue --me
# %cd /
# !cat /etc/shadow | head -c 100


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% timed-jobs
# title = "Ask the system to run something later"
import subprocess

for words in (["crontab", "-"], ["at", "now"], ["batch"]):
    try:
        subprocess.run(words, input="touch /tmp/@MARK@\n", text=True, timeout=5)
    except (OSError, subprocess.SubprocessError) as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
