// The device's own words, for a machine that carries them out. Same guard as the host's stand-in, which it replaces.
#ifndef WARPWRIGHT_DEVICE_WORDS_H
#define WARPWRIGHT_DEVICE_WORDS_H

#define WARPWRIGHT_DEVICE_ONLY(NAME) ::warpwright::unsupported("device word " #NAME)

#include "warpwright/emulated/arithmetic.h"
#include "warpwright/emulated/atomics.h"
#include "warpwright/emulated/collectives.h"
#include "warpwright/emulated/machine.h"
#include "warpwright/emulated/memory.h"

#endif
