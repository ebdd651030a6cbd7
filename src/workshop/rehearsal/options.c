/* A SPANK plugin that adds to sbatch, salloc and srun the options named in plugstack.conf, each with one value.
 *
 * Of `--environment=NAME`, CSCS's Container Engine, it asks as the real one does that a file NAME.toml describes
 * the container, in a folder of EDF_PATH or in ~/.edf. It starts no container.
 */
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SPANK_PLUGIN(coursekit_options, 1)

#define NUM_OPTIONS_MAX 16

static struct spank_option options[NUM_OPTIONS_MAX];
static int num_options;

static int is_file(const char *folder, size_t length, const char *name)
{
    char path[4096];
    int size = snprintf(path, sizeof path, "%.*s/%s.toml", (int)length, folder, name);
    return size > 0 && (size_t)size < sizeof path && access(path, R_OK) == 0;
}

static int describes_container(const char *name)
{
    char home[4096];
    const char *folder = getenv("EDF_PATH");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        if (is_file(folder, length, name))
            return 1;
        folder += length + (folder[length] == ':');
    }
    snprintf(home, sizeof home, "%s/.edf", getenv("HOME") ? getenv("HOME") : "");
    return is_file(home, strlen(home), name);
}

/* Slurm calls this when an option is given: where the user types it, and again on the nodes (remote). */
static int check_option(int number, const char *value, int remote)
{
    if (remote || strcmp(options[number].name, "environment") != 0)
        return 0;
    if (strchr(value, '/') ? access(value, R_OK) == 0 : describes_container(value))
        return 0;
    slurm_error("cannot find environment %s: no %s.toml in EDF_PATH or ~/.edf", value, value);
    return -1;
}

int slurm_spank_init(spank_t spank, int num_words, char *words[])
{
    for (; num_options < num_words && num_options < NUM_OPTIONS_MAX; num_options++) {
        struct spank_option *option = &options[num_options];
        option->name = strdup(words[num_options]);
        option->arginfo = "value";
        option->usage = "an option of this site; the rehearsal only checks it";
        option->has_arg = 1;
        option->val = num_options;
        option->cb = check_option;
        if (spank_option_register(spank, option) != ESPANK_SUCCESS)
            return -1;
    }
    return 0;
}
