// The surface of pybind11 that extensions use: a module that collects entry points, and a few Python objects.
//
// Templates are declared in the classes and defined at the end, for the capture alone.
#ifndef WARPWRIGHT_PYBIND_H
#define WARPWRIGHT_PYBIND_H

#include "warpwright/value.h"

namespace pybind11 {

using warpwright::Value;

class object {
 public:
  object() = default;
  object(Value value) : value_(std::move(value)) {}
  template <class T>
  T cast() const;
  bool is_none() const { return value_.is_none(); }
  const Value& value() const { return value_; }

 protected:
  Value value_;
};
class none : public object {};

template <class T>
object cast(const T& value);

class list : public object {
 public:
  list(Value value = Value::list()) : object(std::move(value)) {}
  template <class T>
  void append(const T& item);
  size_t size() const { return value_.size(); }
  object operator[](size_t i) const { return value_.item(i); }
};

class tuple : public object {
 public:
  tuple(Value value = Value::tuple()) : object(std::move(value)) {}
  size_t size() const { return value_.size(); }
  object operator[](size_t i) const { return value_.item(i); }
};
template <class... T>
tuple make_tuple(const T&... items);

class dict : public object {
 public:
  struct Slot {
    dict& owner;
    const char* key;
    template <class T>
    void operator=(const T& item);
  };
  dict(Value value = Value::dictionary()) : object(std::move(value)) {}
  Slot operator[](const char* key) { return {*this, key}; }
};

struct arg_v {
  const char* name;
  Value fallback;
};
struct arg {
  explicit arg(const char* name) : name(name) {}
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  template <class T>
  arg_v operator=(const T& fallback) const;
  const char* name;
};

inline namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class... G>
struct call_guard {};
struct kw_only {};
struct pos_only {};
enum class return_value_policy { automatic, copy, move, reference, reference_internal, take_ownership };
template <class... A>
struct init {};

// Classes and attributes of a module are not entry points; they are accepted and ignored.
struct Ignored {
  template <class T>
  Ignored& operator=(const T&) {
    return *this;
  }
};
class module_;
template <class T, class... Rest>
class class_ {
 public:
  template <class... A>
  class_(module_&, const char*, const A&...) {}
  template <class... A>
  class_& def(const A&...) {
    return *this;
  }
  template <class... A>
  class_& def_readwrite(const A&...) {
    return *this;
  }
  template <class... A>
  class_& def_readonly(const A&...) {
    return *this;
  }
  template <class... A>
  class_& def_static(const A&...) {
    return *this;
  }
};
template <class T>
class enum_ {
 public:
  template <class... A>
  enum_(module_&, const char*, const A&...) {}
  template <class... A>
  enum_& value(const A&...) {
    return *this;
  }
  enum_& export_values() { return *this; }
};

class module_ {
 public:
  template <class F, class... E>
  module_& def(const char* name, F&& function, const E&... extras);
  Ignored& doc() { return ignored_; }
  Ignored& attr(const char*) { return ignored_; }
  module_ def_submodule(const char*, const char* = nullptr) { return {}; }

 private:
  Ignored ignored_;
};
using module = module_;

template <class... A>
struct overload_cast_impl {
  template <class R>
  constexpr auto operator()(R (*function)(A...)) const {
    return function;
  }
};
template <class... A>
inline constexpr overload_cast_impl<A...> overload_cast{};

}  // namespace pybind11

namespace py = pybind11;

namespace torch {
template <class F>
F* wrap_pybind_function(F* function) {
  return function;
}
template <class F>
F* wrap_pybind_function_no_gil(F* function) {
  return function;
}
}  // namespace torch

namespace warpwright {
struct ModuleBinding {
  explicit ModuleBinding(void (*bind)(pybind11::module_&));
};
}  // namespace warpwright

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME warpwright_extension
#endif
#define WARPWRIGHT_MODULE(NAME, VARIABLE)                                               \
  static void warpwright_bind_##NAME(pybind11::module_&);                               \
  static ::warpwright::ModuleBinding warpwright_module_##NAME(&warpwright_bind_##NAME); \
  static void warpwright_bind_##NAME([[maybe_unused]] pybind11::module_& VARIABLE)
#define PYBIND11_MODULE(NAME, VARIABLE, ...) WARPWRIGHT_MODULE(NAME, VARIABLE)

#ifdef WARPWRIGHT_CAPTURE
#include "warpwright/convert.h"

namespace warpwright {
template <class T>
struct Convert<T, std::enable_if_t<std::is_base_of<pybind11::object, T>::value>> {
  static constexpr TypeName NAME{"object", nullptr};
  using Held = T;
  static T from(const Value& value) {
    if constexpr (std::is_constructible<T, Value>::value) return T(value);
    mismatch("an object these headers can make");
  }
  static T& pass(T& held) { return held; }
  static Value to(const T& object) { return object.value(); }
};
}  // namespace warpwright

namespace pybind11 {

template <class T>
T object::cast() const {
  auto held = warpwright::Convert<T>::from(warpwright::noted(value_));
  return warpwright::Convert<T>::pass(held);
}
template <class T>
object cast(const T& value) {
  return object(warpwright::Convert<T>::to(value));
}
template <class T>
void list::append(const T& item) {
  value_.append(warpwright::Convert<T>::to(item));
}
template <class... T>
tuple make_tuple(const T&... items) {
  return tuple(warpwright::Convert<std::tuple<T...>>::tuple_of(warpwright::Convert<T>::to(items)...));
}
template <class T>
void dict::Slot::operator=(const T& item) {
  owner.value_.set(key, warpwright::Convert<T>::to(item));
}
template <class T>
arg_v arg::operator=(const T& fallback) const {
  if constexpr (std::is_convertible<T, std::string>::value)
    return {name, Value(fallback)};
  else if constexpr (std::is_base_of<object, T>::value)
    return {name, fallback.value()};
  else if constexpr (std::is_same<T, std::nullopt_t>::value || std::is_same<T, std::nullptr_t>::value)
    return {name, Value()};
  else
    return {name, warpwright::Convert<T>::to(fallback)};
}

template <class E>
void describe(warpwright::EntryBuilder& entry, const E& extra) {
  if constexpr (std::is_same<E, arg>::value) entry.parameter(extra.name);
  if constexpr (std::is_same<E, arg_v>::value) entry.parameter(extra.name, extra.fallback);
}
template <class F, class... E>
module_& module_::def(const char* name, F&& function, const E&... extras) {
  warpwright::EntryBuilder entry(name, warpwright::make_callable(std::forward<F>(function)));
  (describe(entry, extras), ...);
  return *this;
}

}  // namespace pybind11
#endif

#endif
