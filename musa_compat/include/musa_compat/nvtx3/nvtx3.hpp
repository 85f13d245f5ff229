/*
 * The C++ interface of NVTX for MUSA: objects that hold nothing, calls that do nothing.
 * Arguments of any kind are accepted where NVTX takes attributes.
 */
#ifndef MUSA_COMPAT_NVTX3_NVTX3_HPP
#define MUSA_COMPAT_NVTX3_NVTX3_HPP

#include <cstdint>
#include <string>

#include "nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {

struct domain {
    struct global {};

    template <class D = global>
    static const domain& get() noexcept {
        static const domain instance;
        return instance;
    }

    operator nvtxDomainHandle_t() const noexcept { return nullptr; }
};

struct rgb {
    using component_type = std::uint8_t;
    constexpr rgb(component_type r, component_type g, component_type b) noexcept : red(r), green(g), blue(b) {}
    component_type red, green, blue;
};

struct argb : rgb {
    constexpr argb(component_type a, component_type r, component_type g, component_type b) noexcept
        : rgb(r, g, b), alpha(a) {}
    component_type alpha;
};

struct color {
    using value_type = std::uint32_t;
    constexpr explicit color(value_type) noexcept {}
    constexpr color(argb) noexcept {}
    constexpr color(rgb) noexcept {}
};

struct category {
    using id_type = std::uint32_t;
    constexpr explicit category(id_type id) noexcept : id_(id) {}
    constexpr id_type get_id() const noexcept { return id_; }

private:
    id_type id_;
};

template <class D = domain::global>
struct named_category_in : category {
    template <class Name>
    named_category_in(id_type id, const Name&) noexcept : category(id) {}

    template <class C>
    static const named_category_in& get() noexcept {
        static const named_category_in instance(C::id, C::name);
        return instance;
    }
};
using named_category = named_category_in<domain::global>;

template <class D = domain::global>
struct registered_string_in {
    explicit registered_string_in(const char*) noexcept {}
    explicit registered_string_in(const wchar_t*) noexcept {}
    explicit registered_string_in(const std::string&) noexcept {}
    explicit registered_string_in(const std::wstring&) noexcept {}

    template <class M>
    static const registered_string_in& get() noexcept {
        static const registered_string_in instance(M::message);
        return instance;
    }

    nvtxStringHandle_t get_handle() const noexcept { return nullptr; }
};
using registered_string = registered_string_in<domain::global>;

struct message {
    using value_type = nvtxMessageValue_t;
    message(const char*) noexcept {}
    message(const wchar_t*) noexcept {}
    message(const std::string&) noexcept {}
    message(const std::wstring&) noexcept {}
    message(nvtxStringHandle_t) noexcept {}
    template <class D>
    message(const registered_string_in<D>&) noexcept {}
};

struct payload {
    template <class T>
    constexpr explicit payload(T) noexcept {}
};

struct event_attributes {
    using value_type = nvtxEventAttributes_t;
    template <class... Arguments>
    explicit event_attributes(const Arguments&...) noexcept {}
};

struct range_handle {
    using value_type = nvtxRangeId_t;
    constexpr range_handle() noexcept = default;
    constexpr explicit range_handle(value_type) noexcept {}
    constexpr explicit operator bool() const noexcept { return false; }
    constexpr value_type get_value() const noexcept { return 0; }
    friend constexpr bool operator==(range_handle, range_handle) noexcept { return true; }
    friend constexpr bool operator!=(range_handle, range_handle) noexcept { return false; }
};

template <class D = domain::global>
struct scoped_range_in {
    template <class... Arguments>
    explicit scoped_range_in(const Arguments&...) noexcept {}
    scoped_range_in(const scoped_range_in&) = delete;
    scoped_range_in& operator=(const scoped_range_in&) = delete;
    ~scoped_range_in() {}  // user-provided, so that a range that is only there to end is not an unused variable
};
using scoped_range = scoped_range_in<domain::global>;

template <class D = domain::global>
struct unique_range_in {
    template <class... Arguments>
    explicit unique_range_in(const Arguments&...) noexcept {}
    unique_range_in(unique_range_in&&) noexcept = default;
    unique_range_in& operator=(unique_range_in&&) noexcept = default;
    ~unique_range_in() {}
};
using unique_range = unique_range_in<domain::global>;

template <class D, class... Arguments>
range_handle start_range_in(const Arguments&...) noexcept {
    return {};
}

template <class... Arguments>
range_handle start_range(const Arguments&...) noexcept {
    return {};
}

template <class D>
void end_range_in(range_handle) noexcept {}
inline void end_range(range_handle) noexcept {}

template <class D, class... Arguments>
void mark_in(const Arguments&...) noexcept {}

template <class... Arguments>
void mark(const Arguments&...) noexcept {}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE_IN(D) ::nvtx3::scoped_range_in<D> nvtx3_range_of_function__ { __func__ }
#define NVTX3_FUNC_RANGE_IF_IN(D, C) NVTX3_FUNC_RANGE_IN(D); (void)(C)
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_FUNC_RANGE_IF(C) NVTX3_FUNC_RANGE_IF_IN(::nvtx3::domain::global, C)

#endif  // MUSA_COMPAT_NVTX3_NVTX3_HPP
