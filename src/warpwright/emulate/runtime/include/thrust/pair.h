#include "tuple.h"
