/* Simulates the messages of a schedule with SimGrid, and prints the time when the last rank finishes. The files of the schedule are written by
 * `swapmeet export --format simgrid`. Usage:
 *     c++ -O2 -o replay replay.cpp -lsimgrid
 *     ./replay platform.xml messages.txt [--barrier]
 * A rank starts all sends and receives of a step at the same time, each send after its start-up. When they are complete, it reduces the received data, and
 * begins the next step. With --barrier, it begins the next step when all ranks have done so.
 *
 * The file starts with `swapmeet-simgrid VERSION` and `nodes N`. The other lines are, with times in microseconds:
 *     STEP FROM TO BYTES [STARTUP]     a message
 *     reduce STEP RANK TIME            a reduction at the end of a step
 *     barrier TIME                     a barrier between steps, as with --barrier, that takes this time
 *     late RANK TIME                   a rank that enters the schedule late
 *     background FROM TO BYTES         a flow that starts at time 0, and for which no rank waits
 *     config KEY:VALUE                 a setting of SimGrid
 * The settings below, and those of the file, make messages share links as the model `fluid` does. A flag --cfg=KEY:VALUE replaces the setting of its key.
 * From SimGrid 3.36 on, --cfg=network/model:raw has the same effect as CM02. */

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>
#include <xbt/log.h>

namespace sg4 = simgrid::s4u;

/* Links are shared by max-min fairness, weighted by latencies. No window of TCP limits a message. All rates are computed again after each event (Full),
 * because lazy updates sometimes keep a rate that has changed. */
static const char *const settings[] = {"network/model:CM02",         "network/optim:Full", "network/crosstraffic:0", "network/latency-factor:1",
                                       "network/bandwidth-factor:1", "network/weight-S:0", "network/TCP-gamma:1e30", "maxmin/precision:1e-6",
                                       "surf/precision:1e-12"};

struct Message {
    long from, to;
    double bytes, startup;
};

/* The messages that a rank sends and receives in each step, and the time of its reduction. */
struct Rank {
    std::map<long, std::vector<Message>> sends, receives;
    std::map<long, double> reductions;
    double late = 0;
};

struct Schedule {
    std::vector<Rank> ranks;
    std::vector<Message> background;
    long steps = 0;
    bool waits = false;
    double barrier = 0;
};

static double finished = 0;

static sg4::Mailbox *box(const Message &m, long step)
{
    return sg4::Mailbox::by_name(std::to_string(m.from) + ">" + std::to_string(m.to) + "@" + std::to_string(step));
}

static void rest(double time)
{
    if (time > 0)
        sg4::this_actor::sleep_for(time);
}

static void work(const Schedule *schedule, long number, sg4::BarrierPtr barrier)
{
    static char content;
    const Rank &mine = schedule->ranks[static_cast<size_t>(number)];
    rest(mine.late);
    for (long step = 1; step <= schedule->steps; step++) {
        const auto sends = mine.sends.find(step), receives = mine.receives.find(step);
        std::vector<sg4::CommPtr> under_way;
        std::vector<char *> got(receives == mine.receives.end() ? 0 : receives->second.size());
        for (size_t i = 0; i < got.size(); i++)
            under_way.push_back(box(receives->second[i], step)->get_async<char>(&got[i]));
        if (sends != mine.sends.end())
            for (const Message &m : sends->second) {
                rest(m.startup);
                under_way.push_back(box(m, step)->put_async(&content, static_cast<uint64_t>(m.bytes)));
            }
        for (const sg4::CommPtr &comm : under_way)
            comm->wait();
        const auto reduction = mine.reductions.find(step);
        if (reduction != mine.reductions.end())
            rest(reduction->second);
        if (barrier && step < schedule->steps) {
            barrier->wait();
            rest(schedule->barrier);
        }
    }
    finished = std::max(finished, sg4::Engine::get_clock());
}

/* Sends a background flow. Both of its ends end with the last rank. */
static void flow(const Message *m, bool sends)
{
    static char content;
    char *got;
    if (sends)
        box(*m, 0)->put_async(&content, static_cast<uint64_t>(m->bytes))->wait();
    else
        box(*m, 0)->get_async<char>(&got)->wait();
}

/* Applies a setting, unless a flag sets its key. */
static void set(const std::string &setting, const std::vector<std::string> &flags)
{
    const std::string key = "--cfg=" + setting.substr(0, setting.find(':') + 1);
    for (const std::string &flag : flags)
        if (flag.compare(0, key.size(), key) == 0)
            return;
    sg4::Engine::set_config(setting);
}

/* Reads a line of the file. Returns false if it is invalid. */
static bool read_line(const std::string &line, Schedule &schedule, const std::vector<std::string> &flags)
{
    const long nodes = static_cast<long>(schedule.ranks.size());
    const auto is_rank = [nodes](long rank) { return rank >= 0 && rank < nodes; };
    std::istringstream words(line);
    std::string key;
    words >> key;
    long step, rank;
    double us;
    Message m{0, 0, 0, 0};
    if (key == "config") {
        std::string setting;
        if (!(words >> setting) || setting.find(':') == std::string::npos)
            return false;
        set(setting, flags);
    } else if (key == "barrier") {
        if (!(words >> us) || us < 0)
            return false;
        schedule.waits = true;
        schedule.barrier = us / 1e6;
    } else if (key == "late") {
        if (!(words >> rank >> us) || !is_rank(rank) || us < 0)
            return false;
        schedule.ranks[static_cast<size_t>(rank)].late = us / 1e6;
    } else if (key == "reduce") {
        if (!(words >> step >> rank >> us) || !is_rank(rank) || us < 0)
            return false;
        schedule.ranks[static_cast<size_t>(rank)].reductions[step] = us / 1e6;
    } else {
        const bool is_background = key == "background";
        step = is_background ? 0 : std::strtol(key.c_str(), nullptr, 10);
        if (!(words >> m.from >> m.to >> m.bytes) || !is_rank(m.from) || !is_rank(m.to) || m.bytes < 0 || (!is_background && step < std::max(schedule.steps, 1L)))
            return false;
        if (is_background) {
            schedule.background.push_back(m);
            return true;
        }
        if (words >> us)
            m.startup = us / 1e6;
        schedule.steps = step;
        schedule.ranks[static_cast<size_t>(m.from)].sends[step].push_back(m);
        schedule.ranks[static_cast<size_t>(m.to)].receives[step].push_back(m);
    }
    return true;
}

int main(int argc, char **argv)
{
    const std::vector<std::string> flags(argv, argv + argc);
    xbt_log_control_set("xbt_cfg.threshold:warning");
    sg4::Engine engine(&argc, argv);
    Schedule schedule;
    schedule.waits = argc == 4 && std::strcmp(argv[3], "--barrier") == 0;
    if (argc < 3 || (argc > 3 && !schedule.waits)) {
        std::fprintf(stderr, "expected PLATFORM.xml MESSAGES.txt [--barrier]\n");
        return 2;
    }
    std::ifstream file(argv[2]);
    std::string format, word, line;
    long version = 0, nodes = 0;
    if (!(file >> format >> version >> word >> nodes) || format != "swapmeet-simgrid" || version < 1 || version > 2 || word != "nodes" || nodes < 1) {
        std::fprintf(stderr, "%s: expected `swapmeet-simgrid 1` or `2`, and `nodes N`\n", argv[2]);
        return 2;
    }
    std::getline(file, line);
    schedule.ranks.resize(static_cast<size_t>(nodes));
    for (const char *setting : settings)
        set(setting, flags);
    for (long number = 3; std::getline(file, line); number++)
        if (!read_line(line, schedule, flags)) {
            std::fprintf(stderr, "%s:%ld: `%s`: expected `STEP FROM TO BYTES`, with steps in order and ranks below %ld, or another line of this format\n", argv[2], number, line.c_str(), nodes);
            return 2;
        }
    engine.load_platform(argv[1]);
    const sg4::BarrierPtr barrier = schedule.waits ? sg4::Barrier::create(static_cast<unsigned>(nodes)) : nullptr;
    const auto host = [](long rank) { return sg4::Host::by_name("n" + std::to_string(rank)); };
    for (long rank = 0; rank < nodes; rank++) {
        if (sg4::Host::by_name_or_null("n" + std::to_string(rank)) == nullptr) {
            std::fprintf(stderr, "%s: there is no host n%ld\n", argv[1], rank);
            return 2;
        }
        sg4::Actor::create("rank", host(rank), work, &schedule, rank, barrier);
    }
    for (const Message &m : schedule.background) {
        sg4::Actor::create("sender", host(m.from), flow, &m, true)->daemonize();
        sg4::Actor::create("receiver", host(m.to), flow, &m, false)->daemonize();
    }
    engine.run();
    std::printf("%.9g us\n", 1e6 * finished);
    return 0;
}
