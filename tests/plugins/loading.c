/* Plugins that misbehave before anybody asks them for a schedule: AT_ENTRY is what the entry does first, AT_LOAD what the loader finds. The rest is ring-c. */

#define swapmeet_plugin ring_plugin
#include "../../plugins/ring-c/ring.c"
#undef swapmeet_plugin

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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
