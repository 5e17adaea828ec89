// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The head of a reflection buffer: a flatbuffer with identifier AIRR (docs/formats/metallib.md 10).
//
//   u32 root offset, "AIRR"
//   root table: field 0 version (three u32), 1 nodes, 4 kernels, 9 function constants (indices into the nodes)
//   node table: field 0 u32 type, 1 offset to the typed table
//
// Only what the view needs is followed; each offset on the way is checked against the buffer.
#include "smelt/metallib/metadata.hpp"

namespace smelt::metallib {
namespace {

class Flat {
 public:
  Flat(ByteView bytes, uint64_t at) : bytes_(bytes), at_(at) {}

  uint64_t size() const { return bytes_.size(); }
  template <std::unsigned_integral T>
  Result<T> read(uint64_t offset) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset)
      return fail(Errc::corrupt, "reflection at byte {}: want {} bytes at its byte {}, it has {}", at_, sizeof(T),
                  offset, bytes_.size());
    return load_le<T>(bytes_.data() + offset);
  }
  /// Follows the u32 offset stored at `offset`; the target is inside, with four bytes to read.
  Result<uint64_t> follow(uint64_t offset) const {
    SMELT_TRY(const uint32_t distance, read<uint32_t>(offset));
    const uint64_t target = offset + distance;
    if (distance == 0 || target > bytes_.size() || bytes_.size() - target < 4)
      return fail(Errc::corrupt, "reflection at byte {}: offset at its byte {} leads to {}, it has {} bytes", at_,
                  offset, target, bytes_.size());
    return target;
  }

 private:
  ByteView bytes_;
  uint64_t at_;
};

class Table {
 public:
  static Result<Table> open(const Flat& flat, uint64_t at) {
    SMELT_TRY(const uint32_t raw, flat.read<uint32_t>(at));
    const int64_t vtable = static_cast<int64_t>(at) - static_cast<int32_t>(raw);
    if (vtable < 0) return fail(Errc::corrupt, "reflection: table at its byte {} has its vtable before the buffer", at);
    Table table(flat, at, static_cast<uint64_t>(vtable));
    SMELT_TRY(table.vtable_size_, flat.read<uint16_t>(table.vtable_));
    SMELT_TRY(table.size_, flat.read<uint16_t>(table.vtable_ + 2));
    if (table.vtable_size_ < 4 || table.vtable_size_ % 2 != 0 || table.size_ < 4 ||
        table.vtable_size_ > flat.size() - table.vtable_ || table.size_ > flat.size() - at)
      return fail(Errc::corrupt, "reflection: table at its byte {} ({} bytes, vtable {} bytes at {}) leaves the buffer",
                  at, table.size_, table.vtable_size_, table.vtable_);
    return table;
  }
  /// Where field `index` lies, `bytes` long; 0 when absent (byte 0 is the root offset, never a field).
  Result<uint64_t> field(uint32_t index, uint64_t bytes) const {
    const uint64_t entry = 4 + 2 * uint64_t{index};
    if (entry + 2 > vtable_size_) return uint64_t{0};
    SMELT_TRY(const uint16_t offset, flat_.read<uint16_t>(vtable_ + entry));
    if (offset == 0) return uint64_t{0};
    if (offset > size_ || bytes > uint64_t{size_} - offset)
      return fail(Errc::corrupt, "reflection: field {} of the table at its byte {} is outside the table", index, at_);
    return at_ + offset;
  }

 private:
  Table(const Flat& flat, uint64_t at, uint64_t vtable) : flat_(flat), at_(at), vtable_(vtable) {}
  const Flat& flat_;
  uint64_t at_, vtable_;
  uint16_t vtable_size_ = 0, size_ = 0;
};

struct Elements {
  uint64_t at = 0;
  uint32_t count = 0;
};

/// A vector of u32 or of offsets.
Result<Elements> read_vector(const Flat& flat, const Table& table, uint32_t index) {
  SMELT_TRY(const uint64_t field, table.field(index, 4));
  if (field == 0) return Elements{};
  SMELT_TRY(const uint64_t at, flat.follow(field));
  SMELT_TRY(const uint32_t count, flat.read<uint32_t>(at));
  if (count > kMaxReflectionNodes || uint64_t{count} * 4 > flat.size() - at - 4)
    return fail(Errc::corrupt, "reflection: vector at its byte {} claims {} elements, the buffer has {} bytes", at,
                count, flat.size());
  return Elements{at + 4, count};
}

Result<std::vector<uint32_t>> read_indices(const Flat& flat, const Table& root, uint32_t index) {
  SMELT_TRY(const Elements elements, read_vector(flat, root, index));
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < elements.count; ++i) {
    SMELT_TRY(const uint32_t value, flat.read<uint32_t>(elements.at + 4 * uint64_t{i}));
    values.push_back(value);
  }
  return values;
}

}  // namespace

Result<ReflectionView> parse_reflection(ByteView buffer, uint64_t at) {
  if (buffer.size() < 8 || as_text(buffer.subspan(4, 4)) != kReflectionIdentifier)
    return fail(Errc::corrupt, "reflection at byte {}: want identifier {} at its byte 4", at, kReflectionIdentifier);
  const Flat flat(buffer, at);
  SMELT_TRY(const uint64_t root_at, flat.follow(0));
  SMELT_TRY(const Table root, Table::open(flat, root_at));

  ReflectionView view;
  SMELT_TRY(const uint64_t version, root.field(0, 12));
  for (uint64_t i = 0; version != 0 && i < 3; ++i) {
    SMELT_TRY(view.version[i], flat.read<uint32_t>(version + 4 * i));
  }
  SMELT_TRY(const Elements nodes, read_vector(flat, root, 1));
  for (uint32_t i = 0; i < nodes.count; ++i) {
    SMELT_TRY(const uint64_t node_at, flat.follow(nodes.at + 4 * uint64_t{i}));
    SMELT_TRY(const Table node, Table::open(flat, node_at));
    SMELT_TRY(const uint64_t type, node.field(0, 4));
    uint32_t number = 0;
    if (type != 0) {
      SMELT_TRY(number, flat.read<uint32_t>(type));
    }
    view.node_types.push_back(number);
    SMELT_TRY(const uint64_t typed, node.field(1, 4));
    if (typed == 0) continue;
    SMELT_TRY(const uint64_t typed_at, flat.follow(typed));
    SMELT_TRY_VOID(Table::open(flat, typed_at));
  }
  SMELT_TRY(view.kernels, read_indices(flat, root, 4));
  SMELT_TRY(view.constants, read_indices(flat, root, 9));
  return view;
}

}  // namespace smelt::metallib
