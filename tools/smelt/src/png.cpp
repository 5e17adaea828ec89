// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "png.hpp"

#include "smelt/base/files.hpp"
#include "smelt/base/shared_library.hpp"

#include <png.h>

namespace smelt::cli {
namespace {

/// Functions of libpng under their names without "png_image_".
struct PngLibrary : SharedLibrary {
  using SharedLibrary::SharedLibrary;
#define SMELT_MEMBER(name) decltype(&::png_image_##name) name = find<decltype(&::png_image_##name)>("png_image_" #name);
  SMELT_MEMBER(begin_read_from_memory)
  SMELT_MEMBER(finish_read)
  SMELT_MEMBER(free)
  SMELT_MEMBER(write_to_memory)
#undef SMELT_MEMBER
};

// The number is that of libpng 1.6's interface.
#ifdef __APPLE__
constexpr const char* kPngLibrary = "libpng16.16.dylib";
#else
constexpr const char* kPngLibrary = "libpng16.so.16";
#endif

Result<const PngLibrary*> png_library() {
  static const PngLibrary library(kPngLibrary);
  if (library.trouble().empty()) return &library;
  return fail(Errc::toolchain_missing, "PNG files cannot be read or written here: {} (Debian: libpng16-16)",
              library.trouble());
}

/// What libpng keeps of a picture, given back whatever happens.
class Picture {
 public:
  explicit Picture(const PngLibrary& library) : library_(library) { image.version = PNG_IMAGE_VERSION; }
  ~Picture() { library_.free(&image); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  tl::unexpected<Error> failure() const { return fail(Errc::corrupt, ".png: {}", image.message); }
  png_image image{};

 private:
  const PngLibrary& library_;
};

constexpr uint64_t kMostPngBytes = uint64_t{1} << 30;

}  // namespace

Result<NpyArray> read_png(ByteView file) {
  SMELT_TRY(const PngLibrary* const library, png_library());
  Picture picture(*library);
  png_image& image = picture.image;
  if (library->begin_read_from_memory(&image, file.data(), file.size()) == 0) return picture.failure();
  if ((image.format & PNG_FORMAT_FLAG_LINEAR) != 0)
    return fail(Errc::unsupported, ".png: 16 bits a channel; want 8 (or a .npy file)");
  // Metal has no format of three channels.
  const bool has_colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const bool has_alpha = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  image.format = has_colour ? PNG_FORMAT_RGBA : has_alpha ? PNG_FORMAT_GA : PNG_FORMAT_GRAY;
  const uint32_t channels = has_colour ? 4 : has_alpha ? 2 : 1;
  const uint64_t row = uint64_t{image.width} * channels;
  if (row * image.height > kMostPngBytes)
    return fail(Errc::unsupported, ".png: {} x {}, more than {} bytes", image.width, image.height, kMostPngBytes);
  NpyArray array{.type = "u8", .shape = {image.height, image.width}, .fortran_order = false, .data = {}};
  if (channels > 1) array.shape.push_back(channels);
  array.data.resize(row * image.height);
  if (library->finish_read(&image, nullptr, array.data.data(), static_cast<png_int_32>(row), nullptr) == 0)
    return picture.failure();
  return array;
}

Result<Bytes> write_png(const NpyArray& array) {
  const uint64_t channels = array.shape.size() == 3 ? array.shape[2] : 1;
  const bool fits = array.type == "u8" && !array.fortran_order &&
                    (array.shape.size() == 2 || array.shape.size() == 3) && channels >= 1 && channels <= 4 &&
                    array.elements() != 0 && array.elements() <= kMostPngBytes;
  if (!fits)
    return fail(Errc::argument_type, ".png: want u8 of height x width, or with 1 to 4 channels; write a .npy file");
  SMELT_TRY(const PngLibrary* const library, png_library());
  Picture picture(*library);
  png_image& image = picture.image;
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  image.format = kFormats[channels - 1];
  image.height = static_cast<png_uint_32>(array.shape[0]);
  image.width = static_cast<png_uint_32>(array.shape[1]);
  png_alloc_size_t size = 0;
  if (library->write_to_memory(&image, nullptr, &size, 0, array.data.data(), 0, nullptr) == 0) return picture.failure();
  Bytes file(size);
  if (library->write_to_memory(&image, file.data(), &size, 0, array.data.data(), 0, nullptr) == 0)
    return picture.failure();
  file.resize(size);
  return file;
}

Result<NpyArray> read_array(const std::string& path) {
  SMELT_TRY(const Bytes file, read_file(path));
  auto array = path.ends_with(".png") ? read_png(file) : read_npy(file);
  if (!array) return tl::unexpected(std::move(array).error().in(path));
  return array;
}

Result<void> write_array(const std::string& path, const NpyArray& array) {
  if (!path.ends_with(".png")) return write_file(path, write_npy(array));
  auto file = write_png(array);
  if (!file) return tl::unexpected(std::move(file).error().in(path));
  return write_file(path, *file);
}

}  // namespace smelt::cli
