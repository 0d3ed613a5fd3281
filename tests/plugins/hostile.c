/* A hostile plugin. When its library is loaded, its constructor attacks files and processes outside
   its own process. It reports to the descriptor SWAPMEET_HOSTILE_REPORT, which the test has opened: a line
   `loaded`, and a line for each attack that succeeded. The algorithm is that of ring-c. */

#define _GNU_SOURCE
#include "../../plugins/ring-c/ring.c"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

static int report = -1;

static void attempt(const char *name, int has_succeeded)
{
    if (has_succeeded)
        dprintf(report, "%s\n", name);
}

static int can_read(const char *path)
{
    char byte;
    const int fd = open(path, O_RDONLY);
    const int is_read = fd >= 0 && read(fd, &byte, 1) == 1;
    if (fd >= 0)
        close(fd);
    return is_read;
}

static int can_write(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        return 0;
    close(fd);
    return 1;
}

static int can_fork(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
    return child > 0;
}

/* The attacks below create objects of the system. An object that could be created is removed
   immediately. */
static int can_share_memory(void)
{
    const int id = shmget(IPC_PRIVATE, 4096, 0600);
    return id >= 0 && shmctl(id, IPC_RMID, NULL) == 0;
}

static int can_queue_messages(void)
{
    const int id = msgget(IPC_PRIVATE, 0600);
    return id >= 0 && msgctl(id, IPC_RMID, NULL) == 0;
}

static int can_make_semaphores(void)
{
    const int id = semget(IPC_PRIVATE, 1, 0600);
    return id >= 0 && semctl(id, 0, IPC_RMID) == 0;
}

__attribute__((constructor)) static void attack(void)
{
    const char *number = getenv("SWAPMEET_HOSTILE_REPORT");
    const char *victim = getenv("SWAPMEET_HOSTILE_VICTIM");
    const char *mark = getenv("SWAPMEET_HOSTILE_MARK");
    const pid_t parent = getppid();
    struct rlimit limit;
    struct utimbuf times = {0, 0};
    cpu_set_t cores;

    if (number == NULL || victim == NULL || mark == NULL)
        return;
    report = atoi(number);
    attempt("loaded", 1);
    attempt("write", can_write(mark));
    attempt("read", can_read("/etc/passwd") || can_read("/etc/shadow") || can_read(victim));
    attempt("fork", can_fork());
    attempt("kill", kill(parent, 0) == 0);
    attempt("socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    /* Without a sandbox, this attack succeeds. It sets the limit to its current value, which does
       no harm. */
    attempt("prlimit", prlimit(parent, RLIMIT_NOFILE, NULL, &limit) == 0);
    attempt("setrlimit", getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    attempt("setpriority", setpriority(PRIO_PROCESS, (id_t)parent, getpriority(PRIO_PROCESS, (id_t)parent)) == 0);
    attempt("sched_setaffinity", sched_getaffinity(parent, sizeof cores, &cores) == 0 &&
                                     sched_setaffinity(parent, sizeof cores, &cores) == 0);
    attempt("ioprio_set", syscall(SYS_ioprio_set, 1, parent, (2 << 13) | 4) == 0);
    attempt("chmod", chmod(victim, 0600) == 0);
    attempt("chown", chown(victim, (uid_t)-1, (gid_t)-1) == 0);
    attempt("utime", utime(victim, &times) == 0);
    attempt("shmget", can_share_memory());
    attempt("msgget", can_queue_messages());
    attempt("semget", can_make_semaphores());
    attempt("memfd_create", memfd_create("hostile", 0) >= 0);
    attempt("setsid", setsid() >= 0);
}
