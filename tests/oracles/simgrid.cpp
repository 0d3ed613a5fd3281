/* Writes `fixtures/simgrid.json` with SimGrid 3.32 (H. Casanova et al., 2014):
 *     c++ -std=c++17 -O1 -o simgrid simgrid.cpp -lsimgrid && ./simgrid
 * `./simgrid communicators` writes `fixtures/simgrid-communicators.json` instead, in which several
 * communicators run an algorithm at the same time. The digits of rank numbers have names, and the
 * ranks of a communicator differ only in the digits with one name.
 *
 * The ranks of a torus exchange messages by simple algorithms. In each step, a rank posts its
 * receives, then its sends, and waits until all of them have ended. With `barrier`, it also waits
 * for all other ranks. The sender sleeps for the start-up time before each send.
 *
 * There are two kinds of routes. `own` uses the last dimension first, in the shorter direction, and
 * in the positive direction if both are equally short. `zone` uses the routes of SimGrid's torus.
 * `suh-shin` on 4 x 4 nodes is Phases 3 and 4 of section 3.1.2 of the paper, whose messages stay
 * within a submesh. `rabenseifner-allreduce` is a reduce-scatter by recursive halving, then an
 * allgather by recursive doubling; `ring-allreduce` does both around a ring (R. Thakur, R.
 * Rabenseifner and W. Gropp, 2005). */

#include <algorithm>
#include <cstdio>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#if SIMGRID_VERSION_MAJOR != 3 || SIMGRID_VERSION_MINOR != 32
#error "the fixture was made with SimGrid 3.32"
#endif

namespace sg4 = simgrid::s4u;

struct Row {
    long side;
    std::string algorithm;
    long block;
    bool barrier;
    std::string routes;
    double latency, startup;
    /* The names and sizes of the digits of rank numbers, slowest first, and the name of the digits in
       which the ranks of a communicator differ. Without digits, all ranks are one communicator. */
    std::vector<std::pair<char, long>> mesh;
    char over;
};

/* Returns the ranks of the communicator of a rank, in ascending order. */
static std::vector<long> members(const Row &row, long rank)
{
    const long n = row.side * row.side;
    std::vector<long> all;
    for (long other = 0; other < n; other++) {
        bool is_member = true;
        long stride = n;
        for (const auto &[name, size] : row.mesh) {
            stride /= size;
            is_member &= name == row.over || rank / stride % size == other / stride % size;
        }
        if (is_member)
            all.push_back(other);
    }
    return all;
}

/* The messages that a rank sends in a step: the receiver and the number of bytes of each. */
using Sends = std::vector<std::pair<long, double>>;

/* Returns the messages that a member of a communicator with n members sends, for each step. */
static std::vector<Sends> schedule(const Row &row, long n, long rank)
{
    const long r = rank / row.side, c = rank % row.side;
    const double block = static_cast<double>(row.block);
    std::vector<Sends> steps;
    if (row.algorithm == "linear") {
        steps.emplace_back();
        for (long d = 1; d < n; d++)
            steps[0].emplace_back((rank + d) % n, block);
    } else if (row.algorithm == "bruck") {
        for (long k = 1; k < n; k *= 2) {
            long blocks = 0;
            for (long d = 1; d < n; d++)
                blocks += (d & k) != 0;
            steps.push_back({{(rank + k) % n, static_cast<double>(blocks) * block}});
        }
    } else if (row.algorithm == "suh-shin") {
        const double half = static_cast<double>(n) / 2 * block;
        const auto along_row = [&](long to) { steps.push_back({{r * row.side + to, half}}); };
        const auto along_column = [&](long to) { steps.push_back({{to * row.side + c, half}}); };
        const bool row_first = (r + c) % 2 == 0;
        for (bool first : {true, false})
            row_first == first ? along_row(c ^ 2) : along_column(r ^ 2);
        along_row(c ^ 1);
        along_column(r ^ 1);
    } else if (row.algorithm == "rabenseifner-allreduce") {
        const double part = block / static_cast<double>(n);
        for (long k = 1; k < n; k *= 2)
            steps.push_back({{rank ^ k, part * static_cast<double>(n / k / 2)}});
        for (long k = n / 2; k >= 1; k /= 2)
            steps.push_back({{rank ^ k, part * static_cast<double>(n / k / 2)}});
    } else if (row.algorithm == "ring-allreduce") {
        for (long s = 0; s < 2 * (n - 1); s++)
            steps.push_back({{(rank + 1) % n, block / static_cast<double>(n)}});
    } else {
        for (long s = 1; s < n; s++) {
            if (row.algorithm == "pairwise")
                steps.push_back({{rank ^ s, block}});
            else if (row.algorithm == "gen")
                steps.push_back({{(rank + s) % n, block}});
            else
                steps.push_back({{(rank + 1) % n, static_cast<double>(n - s) * block}});
        }
    }
    return steps;
}

/* Creates the hosts n0, n1, ... with one link for each direction between neighbours. */
static void platform(const Row &row)
{
    const double bandwidth = 1e9;
    const long m = row.side, n = m * m;
    if (row.routes == "zone") {
        const auto host = [](sg4::NetZone *zone, const std::vector<unsigned long> &, unsigned long id) {
            const sg4::Host *made = zone->create_host("n" + std::to_string(id), 1e9)->seal();
            return std::make_pair(made->get_netpoint(), static_cast<simgrid::kernel::routing::NetPoint *>(nullptr));
        };
        const auto side = static_cast<unsigned long>(m);
        sg4::create_torus_zone("torus", nullptr, {side, side}, {host, {}, {}}, bandwidth, row.latency, sg4::Link::SharingPolicy::SPLITDUPLEX)->seal();
        return;
    }
    sg4::NetZone *zone = sg4::create_full_zone("torus");
    std::vector<sg4::Host *> hosts;
    std::vector<std::vector<sg4::Link *>> links;
    for (long node = 0; node < n; node++) {
        hosts.push_back(zone->create_host("n" + std::to_string(node), 1e9));
        links.emplace_back();
        for (int direction = 0; direction < 4; direction++) {
            const std::string name = std::to_string(node) + "-" + std::to_string(direction);
            links.back().push_back(zone->create_link(name, bandwidth)->set_latency(row.latency)->seal());
        }
    }
    for (long from = 0; from < n; from++) {
        for (long to = 0; to < n; to++) {
            if (from == to)
                continue;
            std::vector<sg4::LinkInRoute> route;
            long at[2] = {from / m, from % m};
            const long goal[2] = {to / m, to % m};
            for (int d : {1, 0}) {
                const bool inside = row.algorithm == "suh-shin";
                const bool plus = inside ? goal[d] > at[d] : (goal[d] - at[d] + m) % m <= m / 2;
                while (at[d] != goal[d]) {
                    route.emplace_back(links[static_cast<size_t>(at[0] * m + at[1])][static_cast<size_t>(2 * d + plus)]);
                    at[d] = (at[d] + (plus ? 1 : m - 1)) % m;
                }
            }
            zone->add_route(hosts[static_cast<size_t>(from)]->get_netpoint(), hosts[static_cast<size_t>(to)]->get_netpoint(), nullptr, nullptr, route, false);
        }
    }
    zone->seal();
}

static sg4::Mailbox *box(long from, long to, size_t step)
{
    return sg4::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to) + "@" + std::to_string(step));
}

/* Simulates a row and prints it. */
static void play(const Row &row, sg4::Engine &engine)
{
    platform(row);
    const long n = row.side * row.side;
    const sg4::BarrierPtr barrier = row.barrier ? sg4::Barrier::create(static_cast<unsigned>(n)) : nullptr;
    std::vector<std::vector<Sends>> all;
    long messages = 0, advances = 0;
    for (long rank = 0; rank < n; rank++) {
        const std::vector<long> own = members(row, rank);
        const long member = std::find(own.begin(), own.end(), rank) - own.begin();
        all.push_back(schedule(row, static_cast<long>(own.size()), member));
        for (Sends &step : all.back()) {
            messages += static_cast<long>(step.size());
            for (auto &[to, bytes] : step)
                to = own[static_cast<size_t>(to)];
        }
    }
    std::vector<double> done(static_cast<size_t>(n));
    for (long rank = 0; rank < n; rank++) {
        sg4::Actor::create("rank", engine.host_by_name("n" + std::to_string(rank)), [&, rank] {
            static char content;
            for (size_t step = 0; step < all[0].size(); step++) {
                std::vector<sg4::CommPtr> open;
                std::vector<char *> got(static_cast<size_t>(n));
                for (long from = 0; from < n; from++)
                    for (const auto &[to, bytes] : all[static_cast<size_t>(from)][step])
                        if (to == rank)
                            open.push_back(box(from, rank, step)->get_async<char>(&got[static_cast<size_t>(from)]));
                for (const auto &[to, bytes] : all[static_cast<size_t>(rank)][step]) {
                    if (row.startup > 0)
                        sg4::this_actor::sleep_for(row.startup);
                    open.push_back(box(rank, to, step)->put_async(&content, static_cast<uint64_t>(bytes)));
                }
                for (const sg4::CommPtr &comm : open)
                    comm->wait();
                if (barrier)
                    barrier->wait();
            }
            done[static_cast<size_t>(rank)] = sg4::Engine::get_clock();
        });
    }
    sg4::Engine::on_time_advance_cb([&](double) { advances++; });
    engine.run();
    double last = 0, sum = 0;
    for (double at : done) {
        last = std::max(last, at);
        sum += at;
    }
    std::string mesh, over;
    for (const auto &[name, size] : row.mesh)
        mesh += (mesh.empty() ? ",mesh=" : "/") + std::string(1, name) + ":" + std::to_string(size);
    if (!row.mesh.empty())
        over = "\"over\": \"" + std::string(1, row.over) + "\", ";
    std::printf("{\"topology\": \"torus:%ldx%ld%s\", %s\"algorithm\": \"%s\", \"block_bytes\": %ld, \"sync\": \"%s\", \"routes\": \"%s\", \"link_bytes_per_s\": 1e9, \"link_latency_s\": %g, "
                "\"startup_s\": %g, \"seconds\": %.12g, \"mean_rank_done\": %.12g, \"steps\": %zu, \"messages\": %ld, \"time_advances\": %ld}",
                row.side, row.side, mesh.c_str(), over.c_str(), row.algorithm.c_str(), row.block, row.barrier ? "barrier" : "async", row.routes.c_str(), row.latency, row.startup, last, sum / static_cast<double>(n),
                all[0].size(), messages, advances);
    std::fflush(stdout);
}

/* Returns the rows in which several communicators run an algorithm at the same time. */
static std::vector<Row> in_communicators()
{
    std::vector<Row> rows;
    const std::vector<std::vector<std::pair<char, long>>> meshes = {
        {{'d', 8}, {'e', 8}}, {{'d', 4}, {'e', 16}}, {{'e', 4}, {'d', 4}, {'e', 4}}, {{'d', 2}, {'e', 4}, {'d', 4}, {'e', 2}}};
    for (const auto &mesh : meshes)
        for (char over : {'d', 'e'})
            for (const char *algorithm : {"pairwise", "bruck", "linear", "ring-allreduce", "rabenseifner-allreduce"})
                rows.push_back({8, algorithm, 65536, false, "own", 1e-7, 0, mesh, over});
    return rows;
}

/* Returns the rows in which all ranks are one communicator. */
static std::vector<Row> in_one()
{
    std::vector<Row> rows;
    const std::vector<std::string> algorithms = {"pairwise", "gen", "ring", "bruck", "linear"};
    for (const std::string &algorithm : algorithms)
        for (long block : {8, 1024, 65536, 1048576})
            for (bool barrier : {false, true})
                rows.push_back({8, algorithm, block, barrier, "own", 1e-7, 0, {}, 0});
    for (const std::string &algorithm : algorithms)
        for (long block : {1024, 65536}) {
            rows.push_back({4, algorithm, block, false, "own", 1e-7, 0, {}, 0});
            rows.push_back({4, algorithm, block, false, "own", 0, 0, {}, 0});
            rows.push_back({4, algorithm, block, false, "own", 1e-7, 5e-6, {}, 0});
            if (algorithm != "linear")
                rows.push_back({4, algorithm, block, false, "zone", 1e-7, 0, {}, 0});
        }
    for (double latency : {1e-7, 0.0})
        rows.push_back({4, "suh-shin", 1024, false, "own", latency, 0, {}, 0});
    return rows;
}

int main(int argc, char **argv)
{
    const std::vector<Row> rows = argc > 1 && std::string(argv[1]) == "communicators" ? in_communicators() : in_one();
    std::printf("{\"rows\": [\n");
    for (size_t i = 0; i < rows.size(); i++) {
        std::printf("%s", i > 0 ? ",\n" : "");
        std::fflush(stdout);
        /* SimGrid can run only one simulation in a process, so each row has a process of its own.
           */
        const pid_t child = fork();
        if (child == 0) {
            sg4::Engine engine(&argc, argv);
            for (const char *setting : {"network/model:CM02", "network/crosstraffic:0", "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0"})
                sg4::Engine::set_config(setting);
            /* The default, lazy updates, gives equal messages unequal rates in some of these rows if
               links have a latency, but not without latencies. */
            if (!rows[i].mesh.empty())
                sg4::Engine::set_config("network/optim:Full");
            play(rows[i], engine);
            _exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            return 1;
    }
    std::printf("\n]}\n");
    return 0;
}
