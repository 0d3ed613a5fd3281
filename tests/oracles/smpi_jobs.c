/* Two jobs on the same nodes as an MPI program, for SMPI of SimGrid 3.32: `smpi_jobs.py` compiles and
 * runs it. There are two processes on each node. The first half of the processes splits
 * MPI_COMM_WORLD into the communicators of the first job, the second half into those of the second
 * job. All communicators run their collective at the same time.
 *
 *     smpi_jobs STRIDE SIZE COLLECTIVE BYTES START_US  STRIDE SIZE COLLECTIVE BYTES START_US
 *
 * The members of a communicator are SIZE ranks with a distance of STRIDE. BYTES is the size of a
 * block of `alltoall`, or of the vector of `allreduce`. The program prints the time of each job in
 * microseconds, from its start to the end of its last rank. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time in seconds at which the first job can start: all communicators exist by then. */
static const double EPOCH = 1.0;

static void sleep_until(double seconds)
{
    const double left = seconds - MPI_Wtime();
    struct timespec rest = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9 + 0.5)};
    nanosleep(&rest, NULL);
}

int main(int argc, char **argv)
{
    int all, world;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (argc != 11)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int n = all / 2, job = world / n, rank = world % n;
    char **own = argv + 1 + 5 * job;
    const int stride = atoi(own[0]), size = atoi(own[1]), bytes = atoi(own[3]);
    const double start = EPOCH + atof(own[4]) * 1e-6;
    const int member = rank / stride % size;
    MPI_Comm communicator;
    MPI_Comm_split(MPI_COMM_WORLD, job * n + rank - member * stride, member, &communicator);
    char *sent = calloc((size_t)bytes, (size_t)size), *received = calloc((size_t)bytes, (size_t)size);
    sleep_until(start);
    if (strcmp(own[2], "alltoall") == 0)
        MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, communicator);
    else
        MPI_Allreduce(sent, received, bytes, MPI_BYTE, MPI_BOR, communicator);
    const double took = MPI_Wtime() - start;
    double *each = calloc((size_t)all, sizeof *each);
    MPI_Gather(&took, 1, MPI_DOUBLE, each, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (world == 0) {
        double last[2] = {0, 0};
        for (int i = 0; i < all; i++)
            if (each[i] > last[i / n])
                last[i / n] = each[i];
        printf("%.6f %.6f\n", last[0] * 1e6, last[1] * 1e6);
    }
    MPI_Finalize();
    return 0;
}
