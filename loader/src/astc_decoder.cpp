// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ASTC, decoded by libastcenc.
#include "astc_library.hpp"
#include "block_decoder.hpp"

#include <cstring>
#include <vector>

namespace smelt::loader {
namespace {

constexpr uint32_t kBlockBytes = 16;

AstcProfile profile_of(BlockCodec codec) {
  return codec == BlockCodec::astc_srgb ? ASTC_LDR_SRGB : codec == BlockCodec::astc_hdr ? ASTC_HDR : ASTC_LDR;
}

class AstcDecoder final : public BlockDecoder {
 public:
  AstcDecoder(const AstcLibrary& library, const PixelFormatFacts& format) : library_(library), format_(format) {}
  ~AstcDecoder() override {
    if (context_ != nullptr) library_.context_free(context_);
  }
  AstcDecoder(const AstcDecoder&) = delete;
  AstcDecoder& operator=(const AstcDecoder&) = delete;

  Result<void> decode(const BlockSlice& slice) override {
    if (context_ == nullptr) SMELT_TRY_VOID(make_context());
    const std::vector<uint8_t> packed = packed_blocks(slice);
    void* texels = slice.texels;
    AstcImage into{slice.width, slice.height, 1, format_.codec == BlockCodec::astc_hdr ? ASTC_F16 : ASTC_U8, &texels};
    const AstcSwizzle as_it_is;
    SMELT_TRY_VOID(check(library_.decompress_image(context_, packed.data(), packed.size(), &into, &as_it_is, 0)));
    return check(library_.decompress_reset(context_));
  }

 private:
  /// It has tables of the block's size, of some megabytes, so it is made when there is something to decode.
  Result<void> make_context() {
    AstcConfig config{};
    SMELT_TRY_VOID(check(library_.config_init(profile_of(format_.codec), format_.block_width, format_.block_height, 1,
                                              0, kAstcDecompressOnly, &config)));
    return check(library_.context_alloc(&config, 1, &context_));
  }

  /// libastcenc wants rows of blocks without gaps.
  std::vector<uint8_t> packed_blocks(const BlockSlice& slice) const {
    const size_t row = size_t{format_.blocks_across(slice.width)} * kBlockBytes;
    const size_t rows = format_.blocks_down(slice.height);
    std::vector<uint8_t> packed(row * rows);
    for (size_t i = 0; i < rows; ++i)
      std::memcpy(packed.data() + i * row, slice.blocks + i * slice.block_row_bytes, row);
    return packed;
  }

  Result<void> check(int status) const {
    if (status == 0) return {};
    return fail(Errc::unsupported, "blocks of {}: libastcenc says {}", format_.name, library_.get_error_string(status));
  }

  const AstcLibrary& library_;
  const PixelFormatFacts& format_;  // of the table
  AstcContext* context_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<BlockDecoder>> astc_decoder(const PixelFormatFacts& format) {
  SMELT_TRY(const AstcLibrary* const library, astc_library());
  return std::make_unique<AstcDecoder>(*library, format);
}

}  // namespace smelt::loader
