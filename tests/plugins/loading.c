/* Plugins that misbehave before the host requests a schedule. The code AT_ENTRY is executed by the
   entry function, and the code AT_LOAD when the library is loaded. The algorithm is that of ring-c.
   */

#define swapmeet_plugin ring_plugin
#include "../../plugins/ring-c/ring.c"
#undef swapmeet_plugin

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#ifdef AT_LOAD
__attribute__((constructor)) static void at_load(void)
{
    AT_LOAD;
}
#endif

#ifndef AT_ENTRY
#define AT_ENTRY (void)0
#endif

SwmPlugin *swapmeet_plugin(void);

SwmPlugin *swapmeet_plugin(void)
{
    AT_ENTRY;
    return ring_plugin();
}
