// Pairs and tuples, which are the standard library's.
#ifndef WARPWRIGHT_THRUST_TUPLE_H
#define WARPWRIGHT_THRUST_TUPLE_H

#include <tuple>
#include <utility>

namespace thrust {

using ::std::get;
using ::std::make_pair;
using ::std::make_tuple;
using ::std::pair;
using ::std::swap;
using ::std::tie;
using ::std::tuple;
using ::std::tuple_element;
using ::std::tuple_size;

}  // namespace thrust

#endif
