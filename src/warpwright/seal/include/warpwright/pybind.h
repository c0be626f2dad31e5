// The surface of pybind11 that extensions use: a module that collects entry points, and a few Python objects.
#ifndef WARPWRIGHT_PYBIND_H
#define WARPWRIGHT_PYBIND_H

#include "warpwright/tensor.h"
#ifdef WARPWRIGHT_CAPTURE
#include "warpwright/convert.h"
#endif

namespace pybind11 {

class module_;

#ifdef WARPWRIGHT_CAPTURE
class object {
 public:
  object() = default;
  object(warpwright::Value value) : value_(std::move(value)) {}
  template <class T>
  T cast() const {
    auto held = warpwright::Convert<T>::from(value_);
    return warpwright::Convert<T>::pass(held);
  }
  bool is_none() const { return value_.is_none(); }
  const warpwright::Value& value() const { return value_; }

 protected:
  warpwright::Value value_;
};
class none : public object {};

template <class T>
object cast(const T& value) { return object(warpwright::Convert<T>::to(value)); }

class list : public object {
 public:
  list() : object(warpwright::Value{warpwright::Values()}) {}
  list(warpwright::Value value) : object(std::move(value)) {}
  template <class T>
  void append(const T& item) {
    std::get<warpwright::Values>(value_.held).push_back(warpwright::Convert<T>::to(item));
  }
  size_t size() const { return warpwright::items_of(value_, "list").size(); }
  object operator[](size_t i) const { return warpwright::items_of(value_, "list").at(i); }
};
class tuple : public object {
 public:
  using object::object;
  size_t size() const { return warpwright::items_of(value_, "tuple").size(); }
  object operator[](size_t i) const { return warpwright::items_of(value_, "tuple").at(i); }
};
template <class... T>
tuple make_tuple(const T&... items) {
  return tuple(warpwright::Value{warpwright::Tuple{{warpwright::Convert<T>::to(items)...}}});
}
class dict : public object {
 public:
  struct Slot {
    dict& owner;
    std::string key;
    template <class T>
    void operator=(const T& item) {
      std::get<warpwright::Dictionary>(owner.value_.held).items.emplace_back(key, warpwright::Convert<T>::to(item));
    }
  };
  dict() : object(warpwright::Value{warpwright::Dictionary()}) {}
  Slot operator[](const char* key) { return {*this, key}; }
};

struct arg_v {
  std::string name;
  warpwright::Value fallback;
};
struct arg {
  explicit arg(const char* name) : name(name) {}
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  template <class T>
  arg_v operator=(const T& fallback) const {
    if constexpr (std::is_convertible<T, std::string>::value)
      return {name, warpwright::Value{std::string(fallback)}};
    else if constexpr (std::is_base_of<object, T>::value)
      return {name, fallback.value()};
    else if constexpr (std::is_same<T, std::nullopt_t>::value || std::is_same<T, std::nullptr_t>::value)
      return {name, warpwright::Value{}};
    else
      return {name, warpwright::Convert<T>::to(fallback)};
  }
  std::string name;
};
#else
class object {
 public:
  template <class T>
  T cast() const;
  bool is_none() const;
};
class none : public object {};
template <class T>
object cast(const T& value);
class list : public object {
 public:
  template <class T>
  void append(const T& item);
  size_t size() const;
  object operator[](size_t i) const;
};
class tuple : public object {
 public:
  size_t size() const;
  object operator[](size_t i) const;
};
template <class... T>
tuple make_tuple(const T&... items);
class dict : public object {
 public:
  struct Slot {
    template <class T>
    void operator=(const T& item);
  };
  Slot operator[](const char* key);
};
struct arg_v {};
struct arg {
  explicit arg(const char* name);
  arg& noconvert(bool = true);
  arg& none(bool = true);
  template <class T>
  arg_v operator=(const T& fallback) const;
};
#endif

inline namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class... G>
struct call_guard {};
struct kw_only {};
struct pos_only {};
struct is_method {};
enum class return_value_policy { automatic, copy, move, reference, reference_internal, take_ownership };
template <class... A>
struct init {};

// Classes and attributes of a module are no entry points; they are accepted and left out.
template <class T, class... Rest>
class class_ {
 public:
  template <class... A>
  class_(module_&, const char*, const A&...) {}
  template <class... A>
  class_& def(const A&...) { return *this; }
  template <class... A>
  class_& def_readwrite(const A&...) { return *this; }
  template <class... A>
  class_& def_readonly(const A&...) { return *this; }
  template <class... A>
  class_& def_static(const A&...) { return *this; }
};
template <class T>
class enum_ {
 public:
  template <class... A>
  enum_(module_&, const char*, const A&...) {}
  template <class... A>
  enum_& value(const A&...) { return *this; }
  enum_& export_values() { return *this; }
};
struct Ignored {
  template <class T>
  Ignored& operator=(const T&) { return *this; }
};

#ifdef WARPWRIGHT_CAPTURE
inline void describe(warpwright::Entry& entry, size_t& next, const std::string& name, std::optional<warpwright::Value> fallback) {
  if (next < entry.parameters.size()) {
    entry.parameters[next].name = name;
    entry.parameters[next].fallback = std::move(fallback);
  }
  ++next;
}
template <class E>
void describe(warpwright::Entry& entry, size_t& next, const E& extra) {
  if constexpr (std::is_same<E, arg>::value) describe(entry, next, extra.name, std::nullopt);
  if constexpr (std::is_same<E, arg_v>::value) describe(entry, next, extra.name, extra.fallback);
}
#endif

class module_ {
 public:
  template <class F, class... E>
#ifdef WARPWRIGHT_CAPTURE
  module_& def(const char* name, F&& function, const E&... extras) {
    warpwright::Entry entry = warpwright::make_entry(std::forward<F>(function));
    entry.name = name;
    [[maybe_unused]] size_t next = 0;
    (describe(entry, next, extras), ...);
    warpwright::add_entry(std::move(entry));
    return *this;
  }
#else
  module_& def(const char* name, F&& function, const E&... extras);
#endif
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
  constexpr auto operator()(R (*function)(A...)) const { return function; }
};
template <class... A>
inline constexpr overload_cast_impl<A...> overload_cast{};

}  // namespace pybind11

#ifdef WARPWRIGHT_CAPTURE
namespace warpwright {
template <class T>
struct Convert<T, std::enable_if_t<std::is_base_of<pybind11::object, T>::value>> : Plain<T> {
  static std::string name() { return "object"; }
  static T from(const Value& value) {
    if constexpr (std::is_constructible<T, Value>::value) return T(value);
    throw Mismatch{"an object these headers can make"};
  }
  static Value to(const T& object) { return object.value(); }
};
}  // namespace warpwright
#endif

namespace py = pybind11;

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

#endif
