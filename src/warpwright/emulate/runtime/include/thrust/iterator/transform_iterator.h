#include "iterators.h"
