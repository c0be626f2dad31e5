// The device keywords, implemented by the emulator. Same guard as the host's replacement header, which it replaces.
#ifndef WARPWRIGHT_DEVICE_WORDS_H
#define WARPWRIGHT_DEVICE_WORDS_H

#define WARPWRIGHT_DEVICE_ONLY(NAME) ::warpwright::unsupported("device word " #NAME)

#include "warpwright/emulated/arithmetic.h"
#include "warpwright/emulated/atomics.h"
#include "warpwright/emulated/collectives.h"
#include "warpwright/emulated/machine.h"
#include "warpwright/emulated/memory.h"

#endif
