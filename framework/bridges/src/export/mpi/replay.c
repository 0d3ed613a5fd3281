/* Executes a schedule under MPI, with real bytes. The file of the schedule is written by `swapmeet export --format mpi`. Usage:
 *     mpicc -O2 -o replay replay.c
 *     mpirun -n RANKS ./replay schedule.txt [--warmup N] [--repetitions N] [--name NAME] [--out ROWS.csv] [--steps STEPS.csv]
 * For each rank and step, the file lists the blocks or sums that the rank sends and receives, or the number of bytes for each destination.
 * The bytes of a block are computed from its number, so that a wrong block is detected. The contributions to a sum are numbers whose sum is
 * exact in any order. In schedules that count bytes, each rank checks how often each byte value occurs. Every rank checks its result after
 * each repetition. The program needs only MPI 3. Exit status: 0 if every block arrived, 1 if the schedule is wrong, 2 for bad usage or file. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEND, RECEIVE, WHERE_IT_IS_FOR, AT_ROOT, EVERYWHERE, KEEPS = 1, ADDS = 2 };
/* Collectives: the name, where blocks are at the start and at the end, whether they differ by origin and destination, and whether they are sums
 * and tokens. The classes of the tokens of a node, each with its receivers, are the segments of the node's block. */
static const struct collective {
    const char *word;
    int starts_at_root, ends, has_origins, has_destinations, sums, has_tokens;
} COLLECTIVES[] = {
    {"alltoall", 0, WHERE_IT_IS_FOR, 1, 1, 0, 0}, {"broadcast", 1, EVERYWHERE, 0, 0, 0, 0}, {"scatter", 1, WHERE_IT_IS_FOR, 0, 1, 0, 0},
    {"gather", 0, AT_ROOT, 1, 0, 0, 0},           {"allgather", 0, EVERYWHERE, 1, 0, 0, 0}, {"permutation", 0, WHERE_IT_IS_FOR, 1, 0, 0, 0},
    {"reduce", 0, AT_ROOT, 0, 0, 1, 0},           {"allreduce", 0, EVERYWHERE, 0, 0, 1, 0}, {"reduce-scatter", 0, WHERE_IT_IS_FOR, 0, 1, 1, 0},
    {"dispatch", 0, WHERE_IT_IS_FOR, 1, 0, 0, 1}, {"combine", 0, WHERE_IT_IS_FOR, 0, 1, 1, 1},
}, *collective;
enum { KINDS = sizeof COLLECTIVES / sizeof *COLLECTIVES };

/* A message between this rank and a peer in a step. It is a sequence of blocks, or of bytes for destinations. */
struct message {
    int kind, peer;
    uint64_t step, count, bytes;
    uint64_t *ids, *counts; /* for each block, its number and its bytes; or each destination and its bytes */
    uint8_t *flags;         /* for each block, whether the sender keeps it and the receiver adds it */
    uint8_t *buffer;        /* the concatenated blocks, if there are several */
};

static int rank, ranks;          /* this process among the ranks of its communicator */
static int world_rank, world_ranks; /* and among all ranks */
static MPI_Comm communicator;    /* the ranks that run the schedule together with this one: all ranks, or the members of a communicator */
static uint64_t nodes, segments, root, uniform; /* uniform: the bytes of a block, if all blocks have the same size */
static uint64_t origins, destinations;       /* how many origins and destinations blocks can have; 1 if blocks do not differ by them */
static uint64_t all, *sizes, *permutation;        /* all: the number of entries of `held`; sizes: for each pair of nodes; permutation: the destination of each node */
static uint64_t *class_bytes; /* for each node and segment, the bytes of a class of tokens, or 0 if there is no such class */
static uint8_t *receives;     /* for each of these classes and each rank, whether the rank is one of its receivers */
static struct message *messages;
static uint64_t message_count;
static int counts_bytes;                      /* whether the schedule counts bytes for each destination instead of blocks */
static uint8_t **stored, **expected;          /* for each block that this rank ever has, its current bytes and, for a sum, the bytes of the result */
static int64_t *held;                         /* for each block, how many copies this rank has; or for each destination, how many bytes this rank has */
static char *columns, *row;                  /* the names of the columns, and the row with placeholders for measured values */
static const char *file_name, *part = ""; /* part: which part of the file is being read, for error messages */
static long line_number;

static void fail(int status, const char *format, ...)
{
    char text[512]; /* printed with one call, because all ranks print to the same terminal */
    va_list list;
    va_start(list, format), vsnprintf(text, sizeof text, format, list), va_end(list);
    fprintf(stderr, "replay: %s\n", text);
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

#define bad(expected) fail(2, "%s: %sline %ld: expected %s", file_name, part, line_number, expected)

static void *room(uint64_t count, size_t size)
{
    void *new = calloc(count ? count : 1, size);
    if (new == NULL) fail(2, "rank %d: no memory for %" PRIu64 " times %zu bytes", rank, count, size);
    return new;
}

/* Makes room for one more element in a list that has `count` elements. When the list is full, its size is doubled. */
static void *grown(void *list, uint64_t count, size_t size)
{
    if (count & (count - 1)) return list;
    if ((list = realloc(list, (count ? 2 * count : 1) * size)) == NULL) fail(2, "rank %d: no memory for %" PRIu64 " times %zu bytes", rank, 2 * count, size);
    return list;
}

/* Returns the next line of the file without its line end. The caller frees the line. */
static char *line_of(FILE *file)
{
    size_t size = 0;
    char *line = NULL;
    const ssize_t length = getline(&line, &size, file);
    line_number++;
    if (length <= 0 || line[length - 1] != '\n') bad("a line more: the file is cut off");
    line[length - 1] = 0;
    return line;
}

static uint64_t number(char **at, uint64_t below)
{
    char *end;
    *at += strspn(*at, " "), errno = 0;
    const unsigned long long value = strtoull(*at, &end, 10);
    if (end == *at || **at < '0' || **at > '9' || errno != 0 || value >= below)
        fail(2, "%s: %sline %ld: expected a number below %" PRIu64 ", found `%.20s`", file_name, part, line_number, below, *at);
    *at = end;
    return value;
}

/* Reads a line, which must begin with `key`. Returns the text after the key. */
static char *expect(FILE *file, const char *key)
{
    char *line = line_of(file);
    if (strncmp(line, key, strlen(key)) != 0 || line[strlen(key)] != ' ') fail(2, "%s: %sline %ld: expected `%s`", file_name, part, line_number, key);
    return line + strlen(key);
}

static uint64_t number_after(FILE *file, const char *key, uint64_t below)
{
    char *at = expect(file, key);
    return number(&at, below);
}

/* Returns the class of tokens that a block stands for. */
static uint64_t class_of(uint64_t id)
{
    return (collective->sums ? id / segments % destinations : id / segments / destinations) * segments + id % segments;
}

static uint64_t bytes_of(uint64_t id)
{
    uint64_t whole = uniform;
    if (class_bytes != NULL) return class_bytes[class_of(id)];
    if (sizes != NULL) {
        const uint64_t pair = id / segments, origin = pair / destinations, destination = pair % destinations;
        whole = sizes[(origins > 1 ? origin : root) * nodes + (destinations > 1 ? destination : permutation ? permutation[origin] : root)];
    }
    return (whole + segments - 1) / segments;
}

static const char *named(uint64_t id)
{
    static char text[128];
    const uint64_t origin = id / segments / destinations, destination = id / segments % destinations;
    const uint64_t to = permutation ? permutation[origin] : destinations > 1 ? destination : root;
    if (counts_bytes) snprintf(text, sizeof text, "so many bytes for rank %" PRIu64, id);
    else snprintf(text, sizeof text, "block %" PRIu64 " -> %" PRIu64 " (segment %" PRIu64 ")", origins > 1 ? origin : root, to, id % segments);
    return text;
}

/* Returns whether this rank has a block at the start or, if `after` is set, needs it at the end. */
static int is_there(uint64_t id, int after)
{
    const uint64_t origin = id / segments / destinations, destination = id / segments % destinations, me = (uint64_t)rank;
    if (receives != NULL && (collective->sums == !after || bytes_of(id) == 0)) return receives[class_of(id) * nodes + me];
    if (receives != NULL) return (collective->sums ? destination : origin) == me;
    if (!after) return collective->sums || (collective->starts_at_root ? root : origin) == me;
    if (collective->ends == WHERE_IT_IS_FOR) return (permutation ? permutation[origin] : destination) == me;
    return collective->ends == EVERYWHERE || root == me;
}

/* Parses runs of numbers such as `0-3,5` into a list. All numbers must be below `most`. */
static uint64_t *list_of(char **at, uint64_t most, uint64_t *count)
{
    uint64_t *list = NULL;
    for (*count = 0;; ++*at) {
        uint64_t first = number(at, most), last = **at == '-' ? (++*at, number(at, most)) : first;
        for (; first <= last; list[(*count)++] = first++) list = grown(list, *count, sizeof *list);
        if (**at != ',') return list;
    }
}

/* Parses the items of a message: `keep|move|keep-add|move-add ORIGINS DESTINATIONS SEGMENTS`, or `DESTINATION BYTES` if bytes are counted. */
static void read_blocks(struct message *message, char *at)
{
    while (*at != 0) {
        uint64_t lengths[3] = {1, 1, 1}, o, d, s, id, *from = NULL, *to = NULL, *part = NULL;
        uint8_t flags = 0;
        at += strspn(at, " ");
        if (!counts_bytes) {
            const size_t word = strcspn(at, " ");
            flags = (uint8_t)((strncmp(at, "keep", 4) == 0 ? KEEPS : 0) | (word == 8 ? ADDS : 0));
            if ((!(flags & KEEPS) && strncmp(at, "move", 4) != 0) || (word != 4 && (word != 8 || !collective->sums || strncmp(at + 4, "-add", 4) != 0)))
                bad("`keep` or `move`, in sums also `keep-add` or `move-add`");
            at += word, from = list_of(&at, origins, &lengths[0]), to = list_of(&at, destinations, &lengths[1]), part = list_of(&at, segments, &lengths[2]);
        }
        for (o = 0; o < lengths[0]; o++)
            for (d = 0; d < lengths[1]; d++)
                for (s = 0; s < lengths[2]; s++) {
                    id = counts_bytes ? number(&at, nodes) : (from[o] * destinations + to[d]) * segments + part[s];
                    message->ids = grown(message->ids, message->count, sizeof *message->ids), message->flags = grown(message->flags, message->count, 1);
                    message->counts = grown(message->counts, message->count, sizeof *message->counts);
                    message->flags[message->count] = flags, message->counts[message->count] = counts_bytes ? number(&at, INT32_MAX) : bytes_of(id);
                    message->ids[message->count++] = id;
                }
        free(from), free(to), free(part);
    }
}

/* The names of all collectives, such as "scatter, gather or reduce". */
static const char *all_collectives(void)
{
    static char names[1024];
    size_t i, used = 0;
    for (i = 0; i < KINDS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : i + 1 == KINDS ? " or " : ", ", COLLECTIVES[i].word);
    return names;
}

/* Splits the ranks into the communicators that the rest of a line lists: the ranks of the first communicator in the order of its members, then
 * those of the second, etc. An empty list stands for one communicator of all ranks. All communicators run the schedule at the same time. */
static void split(char *at)
{
    uint64_t listed = 0;
    int colour = 0, key = world_rank;
    communicator = MPI_COMM_WORLD;
    if (*at == 0) return;
    for (; *at != 0; listed++)
        if (number(&at, (uint64_t)world_ranks) == (uint64_t)world_rank) colour = (int)(listed / nodes), key = (int)(listed % nodes);
    if (listed != (uint64_t)world_ranks) fail(2, "%s is a schedule of communicators with %" PRIu64 " ranks, and there are %d ranks", file_name, listed, world_ranks);
    MPI_Comm_split(MPI_COMM_WORLD, colour, key, &communicator), MPI_Comm_rank(communicator, &rank), MPI_Comm_size(communicator, &ranks);
}

static void read_file(void)
{
    char *line, *at;
    uint64_t i, step = 0;
    FILE *file = fopen(file_name, "r");
    if (file == NULL) fail(2, "%s: %s", file_name, strerror(errno));
    if (number_after(file, "swapmeet-mpi", 1000) != 2) bad("version 2: export the schedule with the swapmeet that this program is from");
    at = expect(file, "collective");
    for (i = 0; i < KINDS && strcmp(at + 1, COLLECTIVES[i].word) != 0; i++) continue;
    if (i == KINDS) bad(all_collectives());
    collective = &COLLECTIVES[i];
    counts_bytes = (int)number_after(file, "counts-bytes", 2);
    at = expect(file, "nodes"), nodes = number(&at, INT32_MAX), split(at), segments = number_after(file, "segments", INT32_MAX), root = number_after(file, "root", nodes);
    origins = collective->has_origins ? nodes : 1, destinations = collective->has_destinations ? nodes : 1;
    if (ranks != (int)nodes || segments == 0) fail(2, "%s is a schedule of %" PRIu64 " nodes, and there are %d ranks", file_name, nodes, ranks);
    if (strcmp(collective->word, "permutation") == 0) {
        at = expect(file, "permutation"), permutation = room(nodes, sizeof *permutation);
        for (i = 0; i < nodes; i++) permutation[i] = number(&at, nodes);
    }
    if (collective->has_tokens) class_bytes = room(nodes * segments, sizeof *class_bytes), receives = room(nodes * segments * nodes, 1);
    for (i = 0; collective->has_tokens && i < nodes; i++) {
        const uint64_t first = i * segments, end = (at = expect(file, "tokens"), first + number(&at, segments + 1));
        for (uint64_t class = first, count; class < end; class++)
            for (class_bytes[class] = number(&at, INT32_MAX), count = number(&at, nodes + 1); count > 0; count--) receives[class * nodes + number(&at, nodes)] = 1;
    }
    at = expect(file, "bytes"), uniform = number(&at, INT32_MAX);
    if (*at != 0) /* there is one size for each pair of nodes, and `uniform` is the first of them */
        for (sizes = room(nodes * nodes, sizeof *sizes), sizes[0] = uniform, i = 1; i < nodes * nodes; i++) sizes[i] = number(&at, INT32_MAX);
    columns = expect(file, "columns"), row = expect(file, "row"), at = expect(file, "ranks");
    for (i = 0; i <= (uint64_t)rank; i++) step = number(&at, INT64_MAX);
    /* `step` is the position of this rank's lines in the file. */
    if (fseek(file, (long)step, SEEK_SET) != 0) fail(2, "%s: %s", file_name, strerror(errno));
    line_number = 0, part = "its rank's ";
    if (number_after(file, "rank", nodes) != (uint64_t)rank) bad("this rank's lines");
    for (step = 0; strcmp(line = line_of(file), "end") != 0; free(line)) {
        char *rest = line + 1;
        if (*line == 't') {
            const uint64_t before = step;
            if ((step = number(&rest, INT64_MAX)) <= before) bad("a later step");
            continue;
        }
        if ((*line != 's' && *line != 'r') || step == 0) bad("`t STEP`, `s PEER BLOCKS`, `r PEER BLOCKS` or `end`");
        messages = grown(messages, message_count, sizeof *messages);
        messages[message_count] = (struct message){*line == 's' ? SEND : RECEIVE, (int)number(&rest, nodes), step, 0, 0, NULL, NULL, NULL, NULL};
        read_blocks(&messages[message_count++], rest);
    }
    fclose(file);
}

/* Returns pseudo-random bits for an offset in a block, so that different blocks have different bytes. In `fill`, they become the bytes of
 * the block. If the block is a rank's contribution to a sum, each eight bytes are a double with an integer value, which is so small that
 * sums are exact. The bytes after the last eight are added byte by byte. */
static uint64_t hash(uint64_t id, uint64_t at)
{
    uint64_t x = (id + 1) * 0x9e3779b97f4a7c15u + at * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static void fill(uint8_t *to, uint64_t id, uint64_t bytes, int origin)
{
    for (uint64_t at = 0; at < bytes; at++) {
        const uint64_t x = hash(origin < 0 ? id : id * nodes + (uint64_t)origin, at / 8);
        const double term = (double)(x >> 44);
        to[at] = (uint8_t)(x >> (at % 8 * 8));
        if (origin >= 0 && at % 8 == 7) memcpy(to + at - 7, &term, 8);
    }
}

static void add(uint8_t *to, const uint8_t *more, uint64_t bytes)
{
    uint64_t at;
    for (at = 0; at + 8 <= bytes; at += 8) {
        double sum, term;
        memcpy(&sum, to + at, 8), memcpy(&term, more + at, 8), sum += term, memcpy(to + at, &sum, 8);
    }
    for (; at < bytes; at++) to[at] = (uint8_t)(to[at] + more[at]);
}

/* Follows which blocks this rank has after each step, and allocates memory for each of them. */
static void prepare(void)
{
    uint64_t i, m, begun = 0, id;
    all = counts_bytes ? nodes : origins * destinations * segments;
    stored = room(all, sizeof *stored), expected = room(all, sizeof *expected), held = room(all, sizeof *held);
    uint64_t *most = room(all, sizeof *most);
    for (id = 0; id < all; id++) most[id] = (uint64_t)(held[id] = counts_bytes ? (int64_t)bytes_of((uint64_t)rank * nodes + id) : is_there(id, 0));
    for (m = 0; m < message_count; m++) {
        struct message *message = &messages[m];
        int adds = 0;
        for (i = 0; i < message->count; i++) {
            id = message->ids[i], adds |= message->flags[i] & ADDS;
            const int64_t goes = counts_bytes ? (int64_t)message->counts[i] : 1;
            if (message->kind == SEND && held[id] < goes && message->counts[i] > 0) /* a rank may send an empty block that it does not have */
                fail(1, "step %" PRIu64 ": rank %d sends rank %d %s, which it does not hold", message->step, rank, message->peer, named(id));
            held[id] -= message->kind == SEND && !(message->flags[i] & KEEPS) ? goes : 0;
            most[id] += message->kind == RECEIVE ? (uint64_t)goes : 0;
            message->bytes += message->counts[i];
        }
        if (message->bytes > INT32_MAX) fail(2, "step %" PRIu64 ": a message of %" PRIu64 " bytes, expected at most 2^31 - 1", message->step, message->bytes);
        if (message->count != 1 || adds || counts_bytes || collective->sums) message->buffer = room(message->bytes, 1);
        /* A rank can forward a block in the step after the block's arrival. */
        for (; (m + 1 == message_count || messages[m + 1].step != message->step) && begun <= m; begun++)
            for (i = 0; messages[begun].kind == RECEIVE && i < messages[begun].count; i++) {
                int64_t *has = &held[messages[begun].ids[i]];
                *has = collective->sums ? 1 : *has + (counts_bytes ? (int64_t)messages[begun].counts[i] : 1);
            }
    }
    for (id = 0; id < all; id++) {
        if (most[id] > 0) stored[id] = room(counts_bytes ? most[id] : bytes_of(id), 1);
        if (!collective->sums || !is_there(id, 1)) continue;
        uint8_t *term = room(bytes_of(id), 1);
        expected[id] = room(bytes_of(id), 1);
        for (i = 0; i < nodes; i++)
            if (receives == NULL || receives[class_of(id) * nodes + i]) fill(term, id, bytes_of(id), (int)i), add(expected[id], term, bytes_of(id));
        free(term);
    }
    free(most);
}

/* Checks that each receiver expects the messages that the sender sends. Otherwise, a rank could wait forever for a message. */
static void match(void)
{
    uint64_t m, i, *theirs = room(3 * nodes, sizeof *theirs);
    uint64_t *mine[2] = {room(3 * nodes, sizeof *theirs), room(3 * nodes, sizeof *theirs)};
    for (m = 0; m < message_count; m++) {
        uint64_t *sum = &mine[messages[m].kind][3 * messages[m].peer], sum_of = messages[m].step * 0x9e3779b97f4a7c15u;
        for (i = 0; i < messages[m].count; i++)
            sum_of = (sum_of ^ (sum_of >> 29) ^ (messages[m].ids[i] + 1) ^ messages[m].counts[i] << 32 ^ (uint64_t)(messages[m].flags[i] & ADDS) << 62) * 0xbf58476d1ce4e5b9u;
        sum[0]++, sum[1] += messages[m].bytes, sum[2] = (sum[2] + sum_of) * 3;
    }
    MPI_Alltoall(mine[SEND], 3, MPI_UINT64_T, theirs, 3, MPI_UINT64_T, communicator);
    for (i = 0; i < nodes; i++) {
        const uint64_t *told = &theirs[3 * i], *known = &mine[RECEIVE][3 * i];
        if (told[0] != known[0] || told[1] != known[1])
            fail(1, "rank %d waits for %" PRIu64 " messages (%" PRIu64 " bytes) from rank %" PRIu64 ", which sends it %" PRIu64 " (%" PRIu64 " bytes)",
                 rank, known[0], known[1], i, told[0], told[1]);
        if (told[2] != known[2]) fail(1, "rank %d and rank %" PRIu64 " disagree on the blocks of their messages, or on the steps", rank, i);
    }
}

/* Restores the blocks that this rank has at the start. Overwrites the memory of all other blocks with wrong bytes; sums of tokens begin at 0. */
static void begin(void)
{
    uint64_t id, at;
    for (id = 0; id < all; id++) {
        const uint64_t block = counts_bytes ? (uint64_t)rank * nodes + id : id, bytes = stored[id] == NULL ? 0 : bytes_of(block);
        if (counts_bytes) held[id] = (int64_t)bytes_of(block);
        if (stored[id] != NULL) fill(stored[id], block, bytes, collective->sums ? rank : -1);
        for (at = 0; !counts_bytes && !is_there(id, 0) && at < bytes; at++) stored[id][at] = receives && collective->sums ? 0 : (uint8_t)~stored[id][at];
    }
}

/* Counts how often each byte value occurs. `by` is 1 to add the numbers to `values`, and -1 to subtract them. */
static void tally(int64_t *values, const uint8_t *bytes, uint64_t count, int by)
{
    for (uint64_t at = 0; at < count; at++) values[bytes[at]] += by;
}

static void verify(void)
{
    uint64_t id, at;
    int64_t values[256] = {0};
    for (id = 0; id < all; id++) {
        if (counts_bytes && id != (uint64_t)rank && held[id] != 0) fail(1, "rank %d still has %" PRId64 " bytes for rank %" PRIu64, rank, held[id], id);
        if (counts_bytes || !is_there(id, 1)) continue;
        if (held[id] <= 0 && bytes_of(id) > 0) fail(1, "%s never reaches rank %d", named(id), rank);
        const uint64_t bytes = bytes_of(id);
        uint8_t *right = expected[id] ? expected[id] : room(bytes, 1);
        if (!expected[id]) fill(right, id, bytes, -1);
        for (at = 0; at < bytes; at++)
            if (stored[id][at] != right[at]) fail(1, "rank %d: byte %" PRIu64 " of %s is %u, expected %u", rank, at, named(id), stored[id][at], right[at]);
        if (!expected[id]) free(right);
    }
    if (counts_bytes && stored[rank] != NULL) tally(values, stored[rank], (uint64_t)held[rank], 1);
    for (id = 0; counts_bytes && id < nodes; id++) {
        const uint64_t block = id * nodes + (uint64_t)rank, bytes = bytes_of(block);
        uint8_t *right = room(bytes, 1);
        fill(right, block, bytes, -1), tally(values, right, bytes, -1);
        free(right);
    }
    for (id = 0; id < 256; id++)
        if (values[id] != 0) fail(1, "rank %d has the value %" PRIu64 " %" PRId64 " times too often among the bytes for it", rank, id, values[id]);
}

/* Executes the schedule once. In each step, this rank starts all receives and then all sends. It begins the next step when all of them are complete. */
static void run(MPI_Request *requests, double *step_times)
{
    uint64_t m = 0, end, i, at;
    while (m < message_count) {
        const double begun = MPI_Wtime();
        int count = 0;
        for (end = m; end < message_count && messages[end].step == messages[m].step; end++)
            if (messages[end].kind == RECEIVE) {
                const struct message *in = &messages[end];
                MPI_Irecv(in->buffer ? in->buffer : stored[in->ids[0]], (int)in->bytes, MPI_BYTE, in->peer, (int)(in->step & 32767), communicator, &requests[count++]);
            }
        for (i = m; i < end; i++)
            if (messages[i].kind == SEND) {
                const struct message *out = &messages[i];
                uint8_t *to = out->buffer;
                for (at = 0; to != NULL && at < out->count; to += out->counts[at++]) {
                    held[out->ids[at]] -= counts_bytes ? (int64_t)out->counts[at] : 0;
                    memcpy(to, stored[out->ids[at]] + (counts_bytes ? held[out->ids[at]] : 0), out->counts[at]);
                }
                MPI_Isend(out->buffer ? out->buffer : stored[out->ids[0]], (int)out->bytes, MPI_BYTE, out->peer, (int)(out->step & 32767), communicator, &requests[count++]);
            }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (i = m; i < end; i++)
            if (messages[i].kind == RECEIVE && messages[i].buffer != NULL) {
                const uint8_t *in = messages[i].buffer;
                for (at = 0; at < messages[i].count; in += messages[i].counts[at++]) {
                    const uint64_t id = messages[i].ids[at], bytes = messages[i].counts[at];
                    if (messages[i].flags[at] & ADDS) add(stored[id], in, bytes);
                    else memcpy(stored[id] + (counts_bytes ? held[id] : 0), in, bytes);
                    held[id] += counts_bytes ? (int64_t)bytes : 0;
                }
            }
        step_times[messages[m].step - 1] = MPI_Wtime() - begun, m = end;
    }
}

/* Prints the row after each placeholder `@WORD@` has been replaced by the measured value. */
static void write_row(FILE *out, const char *name, int repetition, double first, double mean, double last)
{
    const char *keys[] = {"@NAME@", "@REPETITION@", "@TIME@", "@FIRST@", "@MEAN@"}, *at;
    char texts[5][64];
    const double figures[] = {last, first, mean};
    snprintf(texts[0], 64, "%s", name), snprintf(texts[1], 64, "%d", repetition);
    for (int i = 0; i < 3; i++) snprintf(texts[2 + i], 64, "%.3f", 1e6 * figures[i]);
    for (at = row + 1; *at != 0; at++) {
        int key = 0;
        while (key < 5 && strncmp(at, keys[key], strlen(keys[key])) != 0) key++;
        if (key == 5) fputc(*at, out);
        else fputs(texts[key], out), at += strlen(keys[key]) - 1;
    }
    fputc('\n', out);
}

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Writes one line for each step: the minimum, the median and the maximum over repetitions of the time of the slowest rank. */
static void write_steps(const char *name, const double *slowest, uint64_t steps, int repetitions)
{
    double *column = room((uint64_t)repetitions, sizeof *column);
    FILE *out = fopen(name, "w");
    if (out == NULL || fprintf(out, "step,min_us,median_us,max_us\n") < 0) fail(2, "%s: %s", name, strerror(errno));
    for (uint64_t step = 0; step < steps; step++) {
        for (int i = 0; i < repetitions; i++) column[i] = 1e6 * slowest[(uint64_t)i * steps + step];
        qsort(column, (size_t)repetitions, sizeof *column, ascending);
        fprintf(out, "%" PRIu64 ",%.3f,%.3f,%.3f\n", step + 1, column[0], column[repetitions / 2], column[repetitions - 1]);
    }
    if (ferror(out) || fclose(out) != 0) fail(2, "%s: cannot write it", name);
}

int main(int argc, char **argv)
{
    int i, warmup = 2, repetitions = 10;
    const char *name = "mpi", *out_name = "-", *steps_name = NULL;
    FILE *out = stdout;
    MPI_Init(&argc, &argv), MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    rank = world_rank, ranks = world_ranks;
    for (i = 1; i < argc; i++) {
        const char *keys[] = {"--warmup", "--repetitions", "--name", "--out", "--steps"}, **texts[] = {&name, &out_name, &steps_name};
        int key = 0, *numbers[] = {&warmup, &repetitions};
        char *end = "";
        while (key < 5 && strcmp(argv[i], keys[key]) != 0) key++;
        if (key == 5 && argv[i][0] != '-') file_name = argv[i];
        else if (key == 5 || i + 1 == argc) fail(2, "%s: expected --warmup, --repetitions, --name, --out or --steps, and a value", argv[i]);
        else if (key >= 2) *texts[key - 2] = argv[++i];
        else *numbers[key] = (int)strtol(argv[++i], &end, 10);
        if (*end != 0 || warmup < 0 || repetitions < 1) fail(2, "%s: expected a number", argv[i]);
    }
    if (file_name == NULL || name[strcspn(name, ",\"\n")] != 0 || strlen(name) > 63)
        fail(2, "expected a schedule file, and a name of at most 63 letters without comma or quotation mark");
    read_file(), prepare(), match();
    const uint64_t steps = message_count > 0 ? messages[message_count - 1].step : 0;
    uint64_t most = 0;
    MPI_Allreduce(&steps, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Request *requests = room(message_count, sizeof *requests);
    double *times = room(most + 1, sizeof *times), *slowest = room((uint64_t)repetitions * most, sizeof *slowest);
    double *last = room((uint64_t)repetitions, sizeof *last), first = 0, sum = 0, spent;
    if (world_rank == 0 && strcmp(out_name, "-") != 0 && (out = fopen(out_name, "w")) == NULL) fail(2, "%s: %s", out_name, strerror(errno));
    if (world_rank == 0) fprintf(out, "%s\n", columns + 1);
    for (i = -warmup; i < repetitions; i++) {
        begin(), memset(times, 0, most * sizeof *times), MPI_Barrier(MPI_COMM_WORLD);
        spent = MPI_Wtime(), run(requests, times), spent = MPI_Wtime() - spent, verify();
        if (i < 0) continue;
        MPI_Reduce(&spent, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD), MPI_Reduce(&spent, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Reduce(&spent, &last[i], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD), MPI_Reduce(times, slowest + (uint64_t)i * most, (int)most, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        /* The row states that the bytes are correct, so wait until all ranks have checked their bytes. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 0) write_row(out, name, i, first, sum / world_ranks, last[i]);
    }
    if (world_rank == 0) {
        if (steps_name) write_steps(steps_name, slowest, most, repetitions);
        qsort(last, (size_t)repetitions, sizeof *last, ascending);
        fprintf(stderr, "every byte verified; %d repetitions, slowest rank: min %.1f us, median %.1f us, max %.1f us\n", repetitions,
                1e6 * last[0], 1e6 * last[repetitions / 2], 1e6 * last[repetitions - 1]);
        if (fflush(out) != 0 || ferror(out)) fail(2, "%s: cannot write it", out_name);
    }
    return MPI_Finalize();
}
