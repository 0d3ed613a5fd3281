/* Simulates the messages of a schedule with SimGrid, and prints the time when the last rank finishes. The files of the schedule are written by
 * `swapmeet export --format simgrid`. Usage:
 *     c++ -O2 -o replay replay.cpp -lsimgrid
 *     ./replay platform.xml messages.txt [--barrier] --cfg=network/model:CM02 --cfg=network/crosstraffic:0
 * A rank starts all sends and receives of a step at the same time. It begins the next step when they are complete. With --barrier, it begins the next
 * step when the sends and receives of all ranks are complete. With the flags `--cfg`, messages share links evenly, and only bandwidth takes time.
 * From SimGrid 3.36 on, --cfg=network/model:raw has the same effect. */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Message {
    long from, to;
    double bytes;
};

/* The messages that a rank sends and receives in each step. */
struct Rank {
    std::map<long, std::vector<Message>> sends, receives;
};

static void work(const Rank *mine, long steps, sg4::BarrierPtr barrier)
{
    static char content;
    for (long step = 1; step <= steps; step++) {
        const auto sends = mine->sends.find(step), receives = mine->receives.find(step);
        std::vector<sg4::CommPtr> under_way;
        std::vector<char *> got(receives == mine->receives.end() ? 0 : receives->second.size());
        const auto box = [step](const Message &m) {
            return sg4::Mailbox::by_name(std::to_string(m.from) + ">" + std::to_string(m.to) + "@" + std::to_string(step));
        };
        for (size_t i = 0; i < got.size(); i++)
            under_way.push_back(box(receives->second[i])->get_async<char>(&got[i]));
        if (sends != mine->sends.end())
            for (const Message &m : sends->second)
                under_way.push_back(box(m)->put_async(&content, static_cast<uint64_t>(m.bytes)));
        for (const sg4::CommPtr &comm : under_way)
            comm->wait();
        if (barrier)
            barrier->wait();
    }
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    const bool waits = argc == 4 && std::strcmp(argv[3], "--barrier") == 0;
    if (argc < 3 || (argc > 3 && !waits)) {
        std::fprintf(stderr, "expected PLATFORM.xml MESSAGES.txt [--barrier]\n");
        return 2;
    }
    std::FILE *file = std::fopen(argv[2], "r");
    long version = 0, nodes = 0, step = 0, last = 0, from, to;
    double bytes;
    if (file == nullptr || std::fscanf(file, "swapmeet-simgrid %ld nodes %ld", &version, &nodes) != 2 || version != 1 || nodes < 1) {
        std::fprintf(stderr, "%s: expected `swapmeet-simgrid 1` and `nodes N`\n", argv[2]);
        return 2;
    }
    std::vector<Rank> ranks(static_cast<size_t>(nodes));
    int found;
    while ((found = std::fscanf(file, "%ld %ld %ld %lf", &step, &from, &to, &bytes)) == 4) {
        if (step < last || from < 0 || from >= nodes || to < 0 || to >= nodes || bytes < 0) {
            std::fprintf(stderr, "%s: step %ld, from %ld to %ld: expected steps in order and ranks below %ld\n", argv[2], step, from, to, nodes);
            return 2;
        }
        last = step;
        ranks[static_cast<size_t>(from)].sends[step].push_back({from, to, bytes});
        ranks[static_cast<size_t>(to)].receives[step].push_back({from, to, bytes});
    }
    if (found != EOF) {
        std::fprintf(stderr, "%s: after step %ld: expected `STEP FROM TO BYTES`\n", argv[2], step);
        return 2;
    }
    std::fclose(file);
    engine.load_platform(argv[1]);
    const sg4::BarrierPtr barrier = waits ? sg4::Barrier::create(static_cast<unsigned>(nodes)) : nullptr;
    for (long rank = 0; rank < nodes; rank++) {
        sg4::Host *host = engine.host_by_name_or_null("n" + std::to_string(rank));
        if (host == nullptr) {
            std::fprintf(stderr, "%s: there is no host n%ld\n", argv[1], rank);
            return 2;
        }
        sg4::Actor::create("rank", host, work, &ranks[static_cast<size_t>(rank)], last, barrier);
    }
    engine.run();
    std::printf("%.9g us\n", 1e6 * sg4::Engine::get_clock());
    return 0;
}
