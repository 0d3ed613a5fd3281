/* A library that is preloaded into the program and simulates the disk after a power failure: only
   data that was synchronized is still there. When the program synchronizes a file, the contents are
   copied to the folder POWER_DISK, under the name of the file. When it synchronizes a folder, the
   path of the folder is appended to the file POWER_DISK/folders. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void keep(int fd)
{
    const char *disk = getenv("POWER_DISK");
    char link[64], path[4096], copy[8300], buffer[65536];
    struct stat what;
    ssize_t got;
    off_t at = 0;
    int out;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    got = readlink(link, path, sizeof path - 1);
    if (disk == NULL || got < 0 || fstat(fd, &what) != 0)
        return;
    path[got] = '\0';
    if (S_ISDIR(what.st_mode)) {
        snprintf(copy, sizeof copy, "%s/folders", disk);
        out = open(copy, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dprintf(out, "%s\n", path);
        close(out);
        return;
    }
    snprintf(copy, sizeof copy, "%s/%s", disk, strrchr(path, '/') + 1);
    fd = open(link, O_RDONLY);
    out = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while ((got = pread(fd, buffer, sizeof buffer, at)) > 0) {
        if (write(out, buffer, (size_t)got) != got)
            abort();
        at += got;
    }
    close(out);
    close(fd);
}

typedef int (*Sync)(int);

int fsync(int fd)
{
    Sync real;
    int done;
    *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    done = real(fd);
    if (done == 0)
        keep(fd);
    return done;
}

int fdatasync(int fd)
{
    Sync real;
    int done;
    *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    done = real(fd);
    if (done == 0)
        keep(fd);
    return done;
}
