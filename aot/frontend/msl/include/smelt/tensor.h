/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Tensors and their products, from Metal 4.0 on: what <metal_tensor>, <metal_cooperative_tensor> and
// <MetalPerformancePrimitives/MetalPerformancePrimitives.h> bring (docs/formats/air.md 3.14). Precompiled with the
// rest, as those headers' classes are arguments of templates, which needs C++20. So that no source meets these names
// unasked, they stand in metal::__tensors until <metal_tensor> opens it.
//
// The legaliser (legalise/tensors.cpp) makes Apple's operations of the functions `smelt.tensor.*`: their names hold
// types, and the size of their memory is known to the GPU's compiler alone.
#ifndef __SMELT_TENSOR_H
#define __SMELT_TENSOR_H

#include <metal_array>
#include <metal_limits>
#include <metal_math>
#include <metal_simdgroup>
#include <metal_type_traits>
#include <metal_types>

namespace metal {
/// Types that sources name; no tensor has such elements here, as what AIR calls them is not known.
struct int4b_format;
struct uint4b_format;
struct int2b_format;
struct uint2b_format;
struct metal_fp8_e4m3_format;
struct metal_fp8_e5m2_format;
struct metal_fp8_ue8m0_format;
struct metal_fp4_e2m1_format;

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
  static_assert(!__is_same(value_type, int4b_format) && !__is_same(value_type, uint4b_format),
                "4-bit elements of tensors are not supported");
  static_assert(!__is_same(value_type, int2b_format) && !__is_same(value_type, uint2b_format),
                "2-bit elements of tensors are not supported");
  static_assert(!__is_same(value_type, metal_fp8_e4m3_format) && !__is_same(value_type, metal_fp8_e5m2_format) &&
                    !__is_same(value_type, metal_fp8_ue8m0_format) && !__is_same(value_type, metal_fp4_e2m1_format),
                "fp8 and fp4 elements of tensors are not supported");
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
  template <size_t... Sizes, class... I>
    requires(sizeof...(I) == Extents::rank() && sizeof...(Sizes) == Extents::rank())
  __SMELT_INLINE tensor<Element, extents<typename Extents::index_type, Sizes...>, tensor_offset> slice(
      I... origin) const {
    tensor<Element, extents<typename Extents::index_type, Sizes...>, tensor_offset> part;
    const array<int, Extents::rank()> from = {{int(origin)...}};
    for (size_t i = 0; i < Extents::rank(); ++i)
      part.__origin.__elements[i] = __origin.__elements[i] + from.__elements[i];
    part.__handle = __handle;
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
  template <size_t... Sizes, class... I>
    requires(sizeof...(I) == Extents::rank() && sizeof...(Sizes) == Extents::rank())
  __SMELT_INLINE tensor<Element, extents<typename Extents::index_type, Sizes...>, tensor_offset> slice(
      I... origin) const {
    tensor<Element, extents<typename Extents::index_type, Sizes...>, tensor_offset> part;
    part.__origin = array<int, Extents::rank()>{{int(origin)...}};
    part.__handle = __handle;
    return part;
  }
  __SMELT_INLINE const void* __operand() const { return this; }
};

// ---- Held by the threads of a product together

/// One after the other through what a thread holds.
template <class Tensor>
struct __cooperative_iterator {
  Tensor* __of;
  ushort __index;
  __SMELT_INLINE auto& operator*() const { return (*__of)[__index]; }
  __SMELT_INLINE __cooperative_iterator& operator++() {
    ++__index;
    return *this;
  }
  __SMELT_INLINE __cooperative_iterator operator++(int) {
    const __cooperative_iterator before = *this;
    ++__index;
    return before;
  }
  __SMELT_INLINE bool operator==(const __cooperative_iterator& other) const { return __index == other.__index; }
  __SMELT_INLINE bool operator!=(const __cooperative_iterator& other) const { return __index != other.__index; }
  __SMELT_INLINE auto get_multidimensional_index() const { return __of->get_multidimensional_index(__index); }
  __SMELT_INLINE bool is_valid_element() const { return __of->is_valid_element(__index); }
};

/// `Layout` says which operand of which product it is.
template <class Element, class Extents, class Layout>
struct cooperative_tensor {
  using element_type = Element;
  using value_type = Element;
  using extents_type = Extents;
  using layout = Layout;
  using iterator = __cooperative_iterator<cooperative_tensor>;
  using const_iterator = __cooperative_iterator<const cooperative_tensor>;
  static constexpr int __kind = 3;
  static constexpr int __space = 0;
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

  static __SMELT_INLINE constexpr size_t get_rank() { return Extents::rank(); }
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

  __SMELT_INLINE iterator begin() { return {this, 0}; }
  __SMELT_INLINE iterator end() { return {this, get_capacity()}; }
  __SMELT_INLINE const_iterator begin() const { return {this, 0}; }
  __SMELT_INLINE const_iterator end() const { return {this, get_capacity()}; }
  __SMELT_INLINE iterator get_iterator(ushort index) { return {this, index}; }
  __SMELT_INLINE const_iterator get_iterator(ushort index) const { return {this, index}; }

  template <class T>
  __SMELT_INLINE void store(const T& to) const {
    static_assert(__is_same(typename T::value_type, Element), "the tensor's elements are of another type");
    Layout::template __store<T>(__memory, to);
  }
  template <class T>
  __SMELT_INLINE void load(const T& from) {
    static_assert(__is_same(typename T::value_type, Element), "the tensor's elements are of another type");
    Layout::template __load<T>(__memory, from);
  }

  __SMELT_INLINE const void* __operand() const { return Layout::__element(__memory, ushort(0xffff)); }
};

/// What `Rows` rows or columns of a destination were reduced to. Each thread holds all of it: which threads hold what
/// is for the implementation to choose, and so no operation is needed that reduces or tells where an element is.
template <class Source, bool IsOfRows, int Count>
struct __reduced {};
template <class Element, class Extents, class Source, bool IsOfRows, int Count>
struct cooperative_tensor<Element, Extents, __reduced<Source, IsOfRows, Count>> {
  using element_type = Element;
  using value_type = Element;
  using extents_type = Extents;
  using layout = __reduced<Source, IsOfRows, Count>;
  using iterator = __cooperative_iterator<cooperative_tensor>;
  using const_iterator = __cooperative_iterator<const cooperative_tensor>;
  Element __held[Count];

  __SMELT_INLINE cooperative_tensor() : __held{} {}
  static __SMELT_INLINE constexpr size_t get_rank() { return 1; }
  __SMELT_INLINE ushort get_capacity() const { return Count; }
  __SMELT_INLINE bool is_valid_element(ushort index) const { return index < Count; }
  __SMELT_INLINE Element& operator[](ushort index) { return __held[index]; }
  __SMELT_INLINE const Element& operator[](ushort index) const { return __held[index]; }
  __SMELT_INLINE array<int, 1> get_multidimensional_index(ushort index) const { return {{int(index)}}; }
  __SMELT_INLINE iterator begin() { return {this, 0}; }
  __SMELT_INLINE iterator end() { return {this, Count}; }
  __SMELT_INLINE const_iterator begin() const { return {this, 0}; }
  __SMELT_INLINE const_iterator end() const { return {this, Count}; }
  __SMELT_INLINE iterator get_iterator(ushort index) { return {this, index}; }
  __SMELT_INLINE const_iterator get_iterator(ushort index) const { return {this, index}; }
  /// To what the row or column of that element was reduced.
  template <class Tensor>
  __SMELT_INLINE iterator map_iterator(const __cooperative_iterator<Tensor>& of) {
    return {this, ushort(of.get_multidimensional_index()[IsOfRows ? 1 : 0])};
  }
  template <class Tensor>
  __SMELT_INLINE const_iterator map_iterator(const __cooperative_iterator<Tensor>& of) const {
    return {this, ushort(of.get_multidimensional_index()[IsOfRows ? 1 : 0])};
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
/// Behind the descriptor: address and kind of left, right and destination; threads; space and type of the three. Where
/// threads hold an operand, its kind is 3 and its space 0.
void run(__SMELT_MATMUL, const void*, int, const void*, int, const void*, int, int, int, int, int, int, int,
         int) __SMELT_LANES __asm("smelt.tensor.run");
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
void cooperative_load(int, __SMELT_MATMUL, void*, const void*, int, int, int, int, int, int, int) __SMELT_LANES
    __asm("smelt.tensor.cooperative_load");
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
  template <class T>
  static __SMELT_INLINE void __load(void* memory, const T& from) {
    __air::cooperative_load(Operand, __SMELT_MATMUL(Descriptor), memory, from.__operand(), T::__kind, __code<Left>,
                            __code<Right>, __code<Destination>, __threads(), T::__space,
                            __code<typename T::value_type>);
  }
};

template <class T>
inline constexpr bool __is_cooperative = false;
template <class E, class X, class Layout>
inline constexpr bool __is_cooperative<metal::__tensors::cooperative_tensor<E, X, Layout>> = true;
template <class Scope>
inline constexpr bool __is_one_simdgroup = __is_same(Scope, metal::__tensors::execution_simdgroup);
template <class Scope>
inline constexpr bool __is_thread = __is_same(Scope, metal::__tensors::execution_thread);

/// What a destination may be reduced to, and what begins it.
enum class reduction_operation { sum, max, min };
template <class T>
struct reduction_operation_identity {
  static constexpr bool __is_float = T(0.5f) != T(0);
  static __SMELT_INLINE constexpr T __extreme(bool least) {
    if constexpr (__is_float)
      return T(least ? -__builtin_inff() : __builtin_inff());
    else
      return least ? metal::numeric_limits<T>::lowest() : metal::numeric_limits<T>::max();
  }
  static constexpr T sum_identity = T(0);
  static constexpr T max_identity = __extreme(true);
  static constexpr T min_identity = __extreme(false);
};

template <class T>
inline constexpr T dynamic_length_v = T(metal::__tensors::dynamic_extent);

template <matmul2d_descriptor Descriptor, class Scope>
struct matmul2d {
  template <int Operand, class Left, class Right, class T, class Element>
  using __held = metal::__tensors::cooperative_tensor<Element, metal::__tensors::dextents<int, 2>,
                                                      __operand_layout<Descriptor, Operand, Scope, Left, Right, T>>;
  template <class Left, class Right, class T>
  using cooperative_tensor_left_input_t = __held<0, Left, Right, T, Left>;
  template <class Left, class Right, class T>
  using cooperative_tensor_right_input_t = __held<1, Left, Right, T, Right>;
  /// Of types of operands, tensors or cooperative.
  template <class Left, class Right, class T>
  using cooperative_tensor_destination_t = __held<2, typename Left::value_type, typename Right::value_type, T, T>;
  template <class Left, class Right, class T>
  using cooperative_tensor_row_reduction_destination_t =
      metal::__tensors::cooperative_tensor<T, metal::__tensors::dextents<int, 1>,
                                           metal::__tensors::__reduced<Scope, true, Descriptor.m>>;
  template <class Left, class Right, class T>
  using cooperative_tensor_column_reduction_destination_t =
      metal::__tensors::cooperative_tensor<T, metal::__tensors::dextents<int, 1>,
                                           metal::__tensors::__reduced<Scope, false, Descriptor.n>>;

  template <class Left, class Right, class T>
  __SMELT_INLINE cooperative_tensor_left_input_t<Left, Right, T> get_left_input_cooperative_tensor() const {
    __check_inputs();
    return {};
  }
  template <class Left, class Right, class T>
  __SMELT_INLINE cooperative_tensor_right_input_t<Left, Right, T> get_right_input_cooperative_tensor() const {
    __check_inputs();
    return {};
  }
  template <class Left, class Right, class T>
  __SMELT_INLINE cooperative_tensor_destination_t<Left, Right, T> get_destination_cooperative_tensor() const {
    return {};
  }
  template <class Left, class Right, class T>
  __SMELT_INLINE cooperative_tensor_row_reduction_destination_t<Left, Right, T>
  get_row_reduction_destination_cooperative_tensor() const {
    return {};
  }
  template <class Left, class Right, class T>
  __SMELT_INLINE cooperative_tensor_column_reduction_destination_t<Left, Right, T>
  get_column_reduction_destination_cooperative_tensor() const {
    return {};
  }

  template <class Input, class From>
  static __SMELT_INLINE Input __taken_over(const From& of) {
    Input input;
    for (ushort i = 0; i < input.get_capacity() && i < of.get_capacity(); ++i)
      input[i] = typename Input::element_type(of[i]);
    return input;
  }
  /// Another product's destination as an operand, where each thread holds the same elements of both.
  template <class Left, class Right, class T, class E, class X, class Layout>
  __SMELT_INLINE bool is_compatible_as_left_input(const metal::__tensors::cooperative_tensor<E, X, Layout>& of) const {
    return __agree<cooperative_tensor_left_input_t<Left, Right, T>>(of);
  }
  template <class Left, class Right, class T, class E, class X, class Layout>
  __SMELT_INLINE bool is_compatible_as_right_input(const metal::__tensors::cooperative_tensor<E, X, Layout>& of) const {
    return __agree<cooperative_tensor_right_input_t<Left, Right, T>>(of);
  }
  template <class Left, class Right, class T, class E, class X, class Layout>
  __SMELT_INLINE cooperative_tensor_left_input_t<Left, Right, T> get_left_input_cooperative_tensor(
      const metal::__tensors::cooperative_tensor<E, X, Layout>& of) const {
    __check_inputs();
    return __taken_over<cooperative_tensor_left_input_t<Left, Right, T>>(of);
  }
  template <class Left, class Right, class T, class E, class X, class Layout>
  __SMELT_INLINE cooperative_tensor_right_input_t<Left, Right, T> get_right_input_cooperative_tensor(
      const metal::__tensors::cooperative_tensor<E, X, Layout>& of) const {
    __check_inputs();
    return __taken_over<cooperative_tensor_right_input_t<Left, Right, T>>(of);
  }

  /// Destination = left * right, or += with multiply_accumulate. Each of them a tensor, or held by threads.
  template <class Left, class Right, class Destination>
  __SMELT_INLINE void run(const Left& left, const Right& right, Destination&& destination) const {
    using To = __plain<Destination>;
    static_assert(__is_thread<Scope> || Descriptor.m % 16 == 0 || Descriptor.n % 16 == 0,
                  "At least one of M or N must be a multiple of 16");
    if constexpr (__is_cooperative<Left>) {
      __check_inputs();
      static_assert(
          __is_same(typename Left::layout, __operand_layout<Descriptor, 0, Scope, typename Left::value_type,
                                                            typename Right::value_type, typename To::value_type>),
          "Input types must match cooperative tensor types");
    }
    if constexpr (__is_cooperative<Right>) {
      __check_inputs();
      static_assert(
          __is_same(typename Right::layout, __operand_layout<Descriptor, 1, Scope, typename Left::value_type,
                                                             typename Right::value_type, typename To::value_type>),
          "Input types must match cooperative tensor types");
    }
    if constexpr (__is_cooperative<To>)
      static_assert(
          __is_same(typename To::layout, __operand_layout<Descriptor, 2, Scope, typename Left::value_type,
                                                          typename Right::value_type, typename To::value_type>),
          "Input types must match cooperative tensor types");
    __air::run(__SMELT_MATMUL(Descriptor), left.__operand(), Left::__kind, right.__operand(), Right::__kind,
               destination.__operand(), To::__kind, __scope<Scope>::threads(), Left::__space,
               __code<typename Left::value_type>, Right::__space, __code<typename Right::value_type>, To::__space,
               __code<typename To::value_type>);
  }

 private:
  template <class T>
  using __plain = metal::remove_cv_t<metal::remove_reference_t<T>>;
  static __SMELT_INLINE void __check_inputs() {
    static_assert(__is_one_simdgroup<Scope> || __is_thread<Scope>,
                  "Input cooperative tensors require a single SIMD group");
    static_assert(Descriptor.k > 0, "Input cooperative tensors require a K that is known when they are compiled");
  }
  template <class Input, class Of>
  static __SMELT_INLINE bool __agree(const Of& of) {
    __check_inputs();
    const Input input;
    bool agree = input.get_capacity() == of.get_capacity();
    for (ushort i = 0; agree && i < input.get_capacity(); ++i) {
      const bool valid = input.is_valid_element(i);
      const auto a = input.get_multidimensional_index(i), b = of.get_multidimensional_index(i);
      agree = valid == of.is_valid_element(i) && (!valid || (a[0] == b[0] && a[1] == b[1]));
    }
    return __is_thread<Scope> ? agree : metal::simd_all(agree);
  }
};

template <class T>
__SMELT_INLINE T __reduce(reduction_operation how, T a, T b) {
  return how == reduction_operation::sum   ? a + b
         : how == reduction_operation::max ? metal::max(a, b)
                                           : metal::min(a, b);
}
template <class T>
__SMELT_INLINE T __reduce_lanes(reduction_operation how, T x) {
  return how == reduction_operation::sum   ? metal::simd_sum(x)
         : how == reduction_operation::max ? metal::simd_max(x)
                                           : metal::simd_min(x);
}
template <int Dimension, int Count, class Scope, class Source, class T>
__SMELT_INLINE void __reduce_dimension(const Source& source, T (&held)[Count], reduction_operation how, T identity) {
  static_assert(__is_one_simdgroup<Scope>, "Reductions are of products of a single SIMD group here");
  for (int i = 0; i < Count; ++i)
    held[i] = how == reduction_operation::sum   ? T(0)
              : how == reduction_operation::max ? reduction_operation_identity<T>::max_identity
                                                : reduction_operation_identity<T>::min_identity;
  for (ushort i = 0; i < source.get_capacity(); ++i)
    if (source.is_valid_element(i)) {
      const int at = source.get_multidimensional_index(i)[Dimension];
      held[at] = __reduce(how, held[at], T(source[i]));
    }
  for (int i = 0; i < Count; ++i) held[i] = __reduce(how, __reduce_lanes(how, held[i]), identity);
}
/// `destination` = what each row of `source` comes to, and `identity` with it.
template <class E, class X, class Layout, class T, class Y, class Scope, int Count>
__SMELT_INLINE void reduce_rows(
    const metal::__tensors::cooperative_tensor<E, X, Layout>& source,
    metal::__tensors::cooperative_tensor<T, Y, metal::__tensors::__reduced<Scope, true, Count>>& destination,
    reduction_operation how = reduction_operation::sum, T identity = reduction_operation_identity<T>::sum_identity) {
  __reduce_dimension<1, Count, Scope>(source, destination.__held, how, identity);
}
template <class E, class X, class Layout, class T, class Y, class Scope, int Count>
__SMELT_INLINE void reduce_columns(
    const metal::__tensors::cooperative_tensor<E, X, Layout>& source,
    metal::__tensors::cooperative_tensor<T, Y, metal::__tensors::__reduced<Scope, false, Count>>& destination,
    reduction_operation how = reduction_operation::sum, T identity = reduction_operation_identity<T>::sum_identity) {
  __reduce_dimension<0, Count, Scope>(source, destination.__held, how, identity);
}
/// Whether map_iterator leads from one to the other.
template <class E, class X, class Layout, class T, class Y, class Scope, bool IsOfRows, int Count>
__SMELT_INLINE bool is_iterator_compatible(
    const metal::__tensors::cooperative_tensor<E, X, Layout>&,
    const metal::__tensors::cooperative_tensor<T, Y, metal::__tensors::__reduced<Scope, IsOfRows, Count>>&) {
  return true;
}
#undef __SMELT_MATMUL

}  // namespace tensor_ops
}  // namespace mpp

#endif
