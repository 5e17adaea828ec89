/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Tensors and their products, from Metal 4.0 on: what <metal_tensor>, <metal_cooperative_tensor> and
// <MetalPerformancePrimitives/MetalPerformancePrimitives.h> bring (docs/formats/air.md 3.14). Precompiled with the
// rest, as those headers' classes are arguments of templates, which needs C++20. So that no source meets these names
// unasked, they stand in metal::__tensors until <metal_tensor> opens it.
//
// The legaliser (air/passes/tensors.cpp) makes Apple's operations of the functions `smelt.tensor.*`: their names hold
// types, and the size of their memory is known to the GPU's compiler alone.
#ifndef __SMELT_TENSOR_H
#define __SMELT_TENSOR_H

#include <metal_array>
#include <metal_type_traits>
#include <metal_types>

namespace metal {
namespace __tensors {

inline constexpr size_t dynamic_extent = size_t(-1);

// ---- Extents

template <class Index, size_t... Extents>
struct extents {
  using index_type = Index;
  using size_type = size_t;
  using rank_type = size_t;
  Index __at[sizeof...(Extents) ? sizeof...(Extents) : 1];

  static __SMELT_INLINE constexpr size_t rank() { return sizeof...(Extents); }
  static __SMELT_INLINE constexpr size_t rank_dynamic() { return (size_t(Extents == dynamic_extent) + ... + 0); }
  static __SMELT_INLINE constexpr size_t static_extent(size_t dimension) {
    const size_t all[] = {Extents..., 0};
    return all[dimension];
  }
  __SMELT_INLINE constexpr extents() : __at{(Extents == dynamic_extent ? Index(0) : Index(Extents))...} {}
  /// All of them, or the dynamic ones alone.
  template <class... I>
    requires(sizeof...(I) != 0 &&
             (sizeof...(I) == sizeof...(Extents) || sizeof...(I) == (size_t(Extents == dynamic_extent) + ... + 0)))
  __SMELT_INLINE constexpr extents(I... given) : extents() {
    const Index values[] = {Index(given)...};
    size_t next = 0;
    for (size_t i = 0; i < rank(); ++i)
      if (static_extent(i) == dynamic_extent) __at[i] = values[sizeof...(I) == rank() ? i : next++];
  }
  __SMELT_INLINE constexpr Index extent(size_t dimension) const { return __at[dimension]; }
};

template <class Index, class Numbers>
struct __dynamic_extents;
template <class Index, size_t... I>
struct __dynamic_extents<Index, integer_sequence<size_t, I...>> {
  using type = extents<Index, (I, dynamic_extent)...>;
};
template <class Index, size_t Rank>
using dextents = typename __dynamic_extents<Index, make_integer_sequence<size_t, Rank>>::type;

// ---- Kinds of tensors, and who takes part in a product

/// The API binds it.
struct tensor_handle {};
/// A part of one that the API binds.
struct tensor_offset {};
/// A kernel makes it, of a pointer.
struct tensor_inline {};

template <size_t N>
struct execution_simdgroups {
  static __SMELT_INLINE constexpr size_t size() { return N; }
};
using execution_simdgroup = execution_simdgroups<1>;
struct execution_thread {};

// ---- Elements: their space, and the numbers that operations know them by

template <class T>
struct __element {
  using type = T;
  static constexpr int space = 0;
};
template <class T>
struct __element<SMELT_DEVICE T> {
  using type = T;
  static constexpr int space = 1;
};
template <class T>
struct __element<SMELT_THREADGROUP T> {
  using type = T;
  static constexpr int space = 3;
};

/// In a descriptor, and as an operand of a product (docs/formats/air.md 3.14).
template <class T>
struct __element_code;
#define __SMELT_TENSOR_ELEMENT(T, descriptor, operand) \
  template <>                                          \
  struct __element_code<T> {                           \
    static constexpr char in_descriptor = descriptor;  \
    static constexpr int as_operand = operand;         \
  };
__SMELT_TENSOR_ELEMENT(float, 0, 0x10000020)
__SMELT_TENSOR_ELEMENT(half, 1, 0x10000010)
__SMELT_TENSOR_ELEMENT(bfloat, 2, int(0x90000010))
__SMELT_TENSOR_ELEMENT(char, 3, 0x20000008)
__SMELT_TENSOR_ELEMENT(uchar, 4, 0x00000008)
__SMELT_TENSOR_ELEMENT(int, 7, 0x20000020)
#undef __SMELT_TENSOR_ELEMENT

namespace __air {
/// The memory of an object becomes what a tensor of this rank, of 4 bytes an index, takes.
void tensor_memory(void* object, short rank, short index_bytes) __asm("smelt.tensor.memory") __attribute__((nothrow));
short descriptor_bytes(short rank, short index_bytes) __asm("air.get_descriptor_size_tensor") __SMELT_PURE;
void init(void* object, short rank, SMELT_DEVICE char* data, const void* extents, const void* strides,
          char element) __asm("air.init_strided_private_tensor.i32.global") __attribute__((nothrow));
void init(void* object, short rank, SMELT_THREADGROUP char* data, const void* extents, const void* strides,
          char element) __asm("air.init_strided_private_tensor.i32.local") __attribute__((nothrow));
int get_extent(const void* object, short rank, short dimension) __asm("air.get_extent_private_tensor.i32")
    __attribute__((nothrow));
void slice(void* object, const void* of, short rank, const void* origin,
           const void* extents) __asm("air.slice_private_tensor_private_tensor.s.i32") __attribute__((nothrow));
}  // namespace __air

// More than the operations' memory ever is matters to nobody: the legaliser replaces it.
#define __SMELT_TENSOR_BYTES 1024

template <class Element, class Extents, class Kind = tensor_handle, class... Tags>
struct tensor;

/// What all tensors have.
template <class Element, class Extents>
struct __tensor_types {
  using element_type = Element;
  using value_type = typename __element<Element>::type;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  static_assert(!__is_const(value_type), "elements of a tensor are not const");
  static_assert(__element<Element>::space == 1 || __element<Element>::space == 3,
                "elements of a tensor are in device or threadgroup memory");
  static_assert(sizeof(index_type) == 4, "indices of tensors are int here");
  static constexpr int __space = __element<Element>::space;
  static __SMELT_INLINE constexpr size_t get_rank() { return Extents::rank(); }
};

// ---- Made by the kernel

template <class Element, class Extents>
struct tensor<Element, Extents, tensor_inline> : __tensor_types<Element, Extents> {
  using __types = __tensor_types<Element, Extents>;
  using typename __types::value_type;
  static constexpr short __rank = short(Extents::rank());
  static constexpr int __kind = 2;
  alignas(8) unsigned char __memory[__SMELT_TENSOR_BYTES];

  __SMELT_INLINE tensor(Element* data, const Extents& sizes) {
    array<int, Extents::rank()> strides;
    int stride = 1;
    for (size_t i = 0; i < Extents::rank(); ++i) {
      strides.__elements[i] = stride;
      stride *= int(sizes.__at[i]);
    }
    __make(data, sizes, strides);
  }
  __SMELT_INLINE tensor(Element* data, const Extents& sizes, const array<int, Extents::rank()>& strides) {
    __make(data, sizes, strides);
  }
  __SMELT_INLINE tensor(const tensor& other) {
    __air::tensor_memory(__memory, __rank, 4);
    __builtin_memcpy(__memory, other.__memory, size_t(__air::descriptor_bytes(__rank, 4)));
  }
  __SMELT_INLINE tensor& operator=(const tensor& other) {
    __builtin_memcpy(__memory, other.__memory, size_t(__air::descriptor_bytes(__rank, 4)));
    return *this;
  }

  __SMELT_INLINE int get_extent(size_t dimension) const {
    return __air::get_extent(__memory, __rank, short(dimension));
  }
  /// From an origin to the end.
  template <class... I>
    requires(sizeof...(I) == Extents::rank())
  __SMELT_INLINE tensor slice(I... origin) const {
    const array<int, Extents::rank()> from = {{int(origin)...}};
    array<int, Extents::rank()> sizes;
    for (size_t i = 0; i < Extents::rank(); ++i) sizes.__elements[i] = get_extent(i) - from.__elements[i];
    return tensor(*this, from, sizes);
  }
  /// From an origin on, as many as named.
  template <size_t... Sizes, class... I>
    requires(sizeof...(I) == Extents::rank() && sizeof...(Sizes) == Extents::rank())
  __SMELT_INLINE tensor<Element, extents<typename __types::index_type, Sizes...>, tensor_inline> slice(
      I... origin) const {
    const array<int, Extents::rank()> from = {{int(origin)...}};
    const size_t wanted[] = {Sizes...};
    array<int, Extents::rank()> sizes;
    for (size_t i = 0; i < Extents::rank(); ++i)
      sizes.__elements[i] = wanted[i] == dynamic_extent ? get_extent(i) - from.__elements[i] : int(wanted[i]);
    return tensor<Element, extents<typename __types::index_type, Sizes...>, tensor_inline>(*this, from, sizes);
  }

  /// A part of `of`.
  template <class Others>
  __SMELT_INLINE tensor(const tensor<Element, Others, tensor_inline>& of, const array<int, Extents::rank()>& origin,
                        const array<int, Extents::rank()>& sizes) {
    __air::tensor_memory(__memory, __rank, 4);
    __air::slice(__memory, of.__memory, __rank, &origin, &sizes);
  }

  __SMELT_INLINE const void* __operand() const { return __memory; }

 private:
  __SMELT_INLINE void __make(Element* data, const Extents& sizes, const array<int, Extents::rank()>& strides) {
    __air::tensor_memory(__memory, __rank, 4);
    __air::init(__memory, __rank, __bytes(data), sizes.__at, &strides, __element_code<value_type>::in_descriptor);
  }
  template <class T>
  static __SMELT_INLINE SMELT_DEVICE char* __bytes(SMELT_DEVICE T* data) {
    return (SMELT_DEVICE char*)data;
  }
  template <class T>
  static __SMELT_INLINE SMELT_THREADGROUP char* __bytes(SMELT_THREADGROUP T* data) {
    return (SMELT_THREADGROUP char*)data;
  }
};

template <class Element, class Extents>
tensor(Element*, Extents) -> tensor<Element, Extents, tensor_inline>;
template <class Element, class Extents, class Strides>
tensor(Element*, Extents, Strides) -> tensor<Element, Extents, tensor_inline>;

// ---- Bound by the API

struct __tensor_object;
using __tensor_address = SMELT_DEVICE __tensor_object*;

template <class Element, class Extents>
struct tensor<Element, Extents, tensor_offset> : __tensor_types<Element, Extents> {
  static constexpr int __kind = 1;
  array<int, Extents::rank()> __origin;
  alignas(8) __tensor_address __handle;

  template <class... I>
    requires(sizeof...(I) == Extents::rank())
  __SMELT_INLINE tensor slice(I... origin) const {
    tensor part = *this;
    const array<int, Extents::rank()> from = {{int(origin)...}};
    for (size_t i = 0; i < Extents::rank(); ++i) part.__origin.__elements[i] += from.__elements[i];
    return part;
  }
  __SMELT_INLINE const void* __operand() const { return this; }
};

template <class Element, class Extents>
struct tensor<Element, Extents, tensor_handle> : __tensor_types<Element, Extents> {
  static constexpr int __kind = 0;
  __tensor_address __handle;

  template <class... I>
    requires(sizeof...(I) == Extents::rank())
  __SMELT_INLINE tensor<Element, Extents, tensor_offset> slice(I... origin) const {
    tensor<Element, Extents, tensor_offset> part;
    part.__origin = array<int, Extents::rank()>{{int(origin)...}};
    part.__handle = __handle;
    return part;
  }
  __SMELT_INLINE const void* __operand() const { return this; }
};

// ---- Held by the threads of a product together

/// `Layout` says which operand of which product it is.
template <class Element, class Extents, class Layout>
struct cooperative_tensor {
  using element_type = Element;
  using value_type = Element;
  using extents_type = Extents;
  using layout = Layout;
  alignas(8) unsigned char __memory[__SMELT_TENSOR_BYTES];

  __SMELT_INLINE cooperative_tensor() { Layout::__init(__memory); }
  __SMELT_INLINE cooperative_tensor(const cooperative_tensor& other) {
    Layout::__init(__memory);
    *this = other;
  }
  __SMELT_INLINE cooperative_tensor& operator=(const cooperative_tensor& other) {
    __builtin_memcpy(__memory, other.__memory, size_t(Layout::__bytes()));
    return *this;
  }

  __SMELT_INLINE ushort get_capacity() const { return Layout::__capacity(__memory); }
  __SMELT_INLINE bool is_valid_element(ushort index) const { return Layout::__is_valid(__memory, index); }
  __SMELT_INLINE Element& operator[](ushort index) { return *(Element*)Layout::__element(__memory, index); }
  __SMELT_INLINE const Element& operator[](ushort index) const {
    return *(const Element*)Layout::__element(__memory, index);
  }
  /// Dimension 0 first: column, row.
  __SMELT_INLINE array<int, 2> get_multidimensional_index(ushort index) const {
    array<int, 2> at;
    Layout::__coordinates(__memory, index, &at);
    return at;
  }

  struct iterator {
    cooperative_tensor* __of;
    ushort __index;
    __SMELT_INLINE Element& operator*() const { return (*__of)[__index]; }
    __SMELT_INLINE iterator& operator++() {
      ++__index;
      return *this;
    }
    __SMELT_INLINE iterator operator++(int) {
      const iterator before = *this;
      ++__index;
      return before;
    }
    __SMELT_INLINE bool operator==(const iterator& other) const { return __index == other.__index; }
    __SMELT_INLINE bool operator!=(const iterator& other) const { return __index != other.__index; }
    __SMELT_INLINE array<int, 2> get_multidimensional_index() const {
      return __of->get_multidimensional_index(__index);
    }
    __SMELT_INLINE bool is_valid_element() const { return __of->is_valid_element(__index); }
  };
  __SMELT_INLINE iterator begin() { return {this, 0}; }
  __SMELT_INLINE iterator end() { return {this, get_capacity()}; }

  template <class T>
  __SMELT_INLINE void store(const T& to) const {
    static_assert(__is_same(typename T::value_type, Element), "the tensor's elements are of another type");
    Layout::template __store<T>(__memory, to);
  }
};

}  // namespace __tensors
}  // namespace metal

// ---- Products

namespace mpp {
namespace tensor_ops {

struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;

  __SMELT_INLINE constexpr matmul2d_descriptor(int rows, int columns, int depth = int(metal::__tensors::dynamic_extent),
                                               bool is_left_transposed = false, bool is_right_transposed = false,
                                               bool is_relaxed = false, mode how = mode::multiply)
      : m(rows),
        n(columns),
        k(depth),
        transpose_left(is_left_transposed),
        transpose_right(is_right_transposed),
        relaxed_precision(is_relaxed),
        matmul_mode(how) {}
};

namespace __air {
#define __SMELT_MATMUL int, int, int, char, char, char, int
/// Behind the descriptor: address and kind of left, right and destination; threads; space and type of the three.
void run(__SMELT_MATMUL, const void*, int, const void*, int, const void*, int, int, int, int, int, int, int,
         int) __SMELT_LANES __asm("smelt.tensor.run");
/// The same with the elements of a cooperative destination, which has no kind and no space.
void run_cooperative(__SMELT_MATMUL, const void*, int, const void*, int, void*, int, int, int, int, int,
                     int) __SMELT_LANES __asm("smelt.tensor.run_cooperative");
/// Cooperative tensors: which operand, the descriptor, memory, types of the three, threads.
void cooperative_memory(int, __SMELT_MATMUL, void*, int, int, int, int) __SMELT_LANES
    __asm("smelt.tensor.cooperative_memory");
long cooperative_bytes(int, __SMELT_MATMUL, int, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_data_size");
void cooperative_init(int, __SMELT_MATMUL, void*, int, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_init");
ushort cooperative_count(int, __SMELT_MATMUL, const void*, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_num_elements");
bool cooperative_is_valid(int, __SMELT_MATMUL, const void*, ushort, int, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_is_valid_element");
void* cooperative_element(int, __SMELT_MATMUL, const void*, ushort, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_get_element_pointer");
void cooperative_coordinates(int, __SMELT_MATMUL, const void*, ushort, void*, int, int, int, int) __SMELT_LANES
    __asm("__tensorops_impl_matmul2d_op_cooperative_tensor_get_multidimensional_index");
/// Behind the memory: address and kind of the tensor, types, threads, space and type of the tensor.
void cooperative_store(int, __SMELT_MATMUL, const void*, const void*, int, int, int, int, int, int, int) __SMELT_LANES
    __asm("smelt.tensor.cooperative_store");
uint simdgroup_size() __asm("air.get_simdgroup_size.i32") __SMELT_PURE;
#undef __SMELT_MATMUL
}  // namespace __air

template <class Scope>
struct __scope;
template <size_t N>
struct __scope<metal::__tensors::execution_simdgroups<N>> {
  static __SMELT_INLINE int threads() { return int(__air::simdgroup_size() * uint(N)); }
};
template <>
struct __scope<metal::__tensors::execution_thread> {
  static __SMELT_INLINE int threads() { return 1; }
};

template <class T>
inline constexpr int __code = metal::__tensors::__element_code<T>::as_operand;

#define __SMELT_MATMUL(D)                                                                                \
  (D).m, (D).n, (D).k, char((D).transpose_left), char((D).transpose_right), char((D).relaxed_precision), \
      int((D).matmul_mode)

template <matmul2d_descriptor Descriptor, int Operand, class Scope, class Left, class Right, class Destination>
struct __operand_layout {
  static __SMELT_INLINE int __threads() { return __scope<Scope>::threads(); }
  static __SMELT_INLINE void __init(void* memory) {
    __air::cooperative_memory(Operand, __SMELT_MATMUL(Descriptor), memory, __code<Left>, __code<Right>,
                              __code<Destination>, __threads());
    __air::cooperative_init(Operand, __SMELT_MATMUL(Descriptor), memory, __code<Left>, __code<Right>,
                            __code<Destination>, __threads());
  }
  static __SMELT_INLINE long __bytes() {
    return __air::cooperative_bytes(Operand, __SMELT_MATMUL(Descriptor), __code<Left>, __code<Right>,
                                    __code<Destination>, __threads());
  }
  static __SMELT_INLINE ushort __capacity(const void* memory) {
    return __air::cooperative_count(Operand, __SMELT_MATMUL(Descriptor), memory, __code<Left>, __code<Right>,
                                    __threads());
  }
  static __SMELT_INLINE bool __is_valid(const void* memory, ushort index) {
    return __air::cooperative_is_valid(Operand, __SMELT_MATMUL(Descriptor), memory, index, __code<Left>, __code<Right>,
                                       __code<Destination>, __threads());
  }
  static __SMELT_INLINE void* __element(const void* memory, ushort index) {
    return __air::cooperative_element(Operand, __SMELT_MATMUL(Descriptor), memory, index, __code<Left>, __code<Right>,
                                      __code<Destination>);
  }
  static __SMELT_INLINE void __coordinates(const void* memory, ushort index, void* at) {
    __air::cooperative_coordinates(Operand, __SMELT_MATMUL(Descriptor), memory, index, at, __code<Left>, __code<Right>,
                                   __code<Destination>, __threads());
  }
  template <class T>
  static __SMELT_INLINE void __store(const void* memory, const T& to) {
    __air::cooperative_store(Operand, __SMELT_MATMUL(Descriptor), memory, to.__operand(), T::__kind, __code<Left>,
                             __code<Right>, __code<Destination>, __threads(), T::__space,
                             __code<typename T::value_type>);
  }
};

template <matmul2d_descriptor Descriptor, class Scope>
struct matmul2d {
  template <class Left, class Right, class T>
  using __destination = metal::__tensors::cooperative_tensor<
      T, metal::__tensors::dextents<int, 2>,
      __operand_layout<Descriptor, 2, Scope, typename Left::value_type, typename Right::value_type, T>>;

  template <class Left, class Right, class T>
  __SMELT_INLINE __destination<Left, Right, T> get_destination_cooperative_tensor() const {
    return __destination<Left, Right, T>();
  }

  /// Destination = left * right, or += with multiply_accumulate.
  template <class Left, class Right, class E, class X, class K>
  __SMELT_INLINE void run(const Left& left, const Right& right,
                          const metal::__tensors::tensor<E, X, K>& destination) const {
    using Destination = metal::__tensors::tensor<E, X, K>;
    __air::run(__SMELT_MATMUL(Descriptor), left.__operand(), Left::__kind, right.__operand(), Right::__kind,
               destination.__operand(), Destination::__kind, __scope<Scope>::threads(), Left::__space,
               __code<typename Left::value_type>, Right::__space, __code<typename Right::value_type>,
               Destination::__space, __code<typename Destination::value_type>);
  }
  template <class Left, class Right, class T, class X, class Layout>
  __SMELT_INLINE void run(const Left& left, const Right& right,
                          metal::__tensors::cooperative_tensor<T, X, Layout>& destination) const {
    static_assert(
        __is_same(Layout,
                  __operand_layout<Descriptor, 2, Scope, typename Left::value_type, typename Right::value_type, T>),
        "the cooperative tensor is another product's destination");
    __air::run_cooperative(__SMELT_MATMUL(Descriptor), left.__operand(), Left::__kind, right.__operand(), Right::__kind,
                           Layout::__element(destination.__memory, ushort(0xffff)), __scope<Scope>::threads(),
                           Left::__space, __code<typename Left::value_type>, Right::__space,
                           __code<typename Right::value_type>, __code<T>);
  }
};
#undef __SMELT_MATMUL

}  // namespace tensor_ops
}  // namespace mpp

#endif
