// A minimal plugin in Go, which shows that cgo accepts the header of the plugin ABI.
package main

/*
#include <stdlib.h>
#include <swapmeet.h>

extern int32_t plan(SwmAlgorithm *, SwmProblem *, SwmHost *);

// cgo does not support const in function types.
static SwmRun as_run(void) { return (SwmRun)plan; }
static int32_t step(const SwmHost *host) { return host->step(host->ctx); }
static int32_t send(const SwmHost *host, const SwmBlocks *blocks) { return host->send_blocks(host->ctx, blocks); }
*/
import "C"


// Texts are in C memory, because the host keeps them and Go must not move or free them.
func text(s string) C.SwmStr {
	return C.SwmStr{ptr: (*C.uint8_t)(C.CBytes([]byte(s))), len: C.size_t(len(s))}
}

var (
	plugin     = (*C.SwmPlugin)(C.calloc(1, C.sizeof_SwmPlugin))
	algorithm  = (*C.SwmAlgorithm)(C.calloc(1, C.sizeof_SwmAlgorithm))
	algorithms = (**C.SwmAlgorithm)(C.calloc(1, C.sizeof_size_t))
)

//export swapmeet_plugin
func swapmeet_plugin() *C.SwmPlugin {
	a := algorithm
	*algorithms = a
	a.size = C.sizeof_SwmAlgorithm
	a.name, a.title, a.accepts = text("go-direct"), text("Sends each block directly to its destination"), text("any topology")
	a.collectives = 1 << C.SWM_ALLTOALL
	a.ports = 1
	a.plan = C.as_run()
	plugin.head = C.SwmHead{
		magic: C.SWM_MAGIC, abi_major: C.SWM_ABI_MAJOR, abi_minor: C.SWM_ABI_MINOR, size: C.sizeof_SwmPlugin,
	}
	plugin.name, plugin.version, plugin.licence = text("go-direct"), text("0.1.0"), text("MIT")
	plugin.algorithms = algorithms
	plugin.algorithm_count = 1
	return plugin
}

//export plan
func plan(_ *C.SwmAlgorithm, problem *C.SwmProblem, host *C.SwmHost) C.int32_t {
	n := problem.topology.nodes
	for distance := C.uint64_t(1); distance < n; distance++ {
		if C.step(host) != C.SWM_OK {
			return C.SWM_STOPPED
		}
		for me := C.uint64_t(0); me < n; me++ {
			to := (me + distance) % n
			blocks := C.SwmBlocks{size: C.sizeof_SwmBlocks, flags: C.SWM_STRICT, from: me, to: to}
			blocks.origins = C.SwmSet{kind: C.SWM_NODE, node: me}
			blocks.destinations = C.SwmSet{kind: C.SWM_NODE, node: to}
			if C.send(host, &blocks) != C.SWM_OK {
				return C.SWM_STOPPED
			}
		}
	}
	return C.SWM_OK
}


func main() {}
