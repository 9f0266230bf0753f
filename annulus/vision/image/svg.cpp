// Parses with librsvg, paints and encodes with cairo.
#include "annulus/vision/image/svg.h"

#include <cairo.h>
#include <librsvg/rsvg.h>

#include <memory>

#include "annulus/base/error.h"

namespace annulus {
namespace {

constexpr std::size_t kLargestSide = 4096;
constexpr std::size_t kLargestText = 8 << 20;

struct ReleaseDrawing {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
template <class T>
using Owned = std::unique_ptr<T, ReleaseDrawing>;

[[noreturn]] void reject(GError* error, const std::string& source) {
  const std::string why = error != nullptr ? error->message : "librsvg gave no reason";
  if (error != nullptr) g_error_free(error);
  fail(ErrorKind::kFormat, "{} could not be drawn: {}", source, why);
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(closure);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

std::vector<std::byte> render_svg(std::string_view svg, std::size_t width, std::size_t height,
                                  const std::string& source) {
  if (width == 0 || height == 0 || width > kLargestSide || height > kLargestSide) {
    fail(ErrorKind::kUsage, "expected a picture of 1 to {} pixels a side, found {} x {}", kLargestSide, width, height);
  }
  if (svg.size() > kLargestText) {
    fail(ErrorKind::kFormat, "{}: expected an SVG text of at most {} bytes, found {}", source, kLargestText,
         svg.size());
  }
  GError* error = nullptr;
  const Owned<RsvgHandle> handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  if (!handle) reject(error, source);

  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  const Owned<cairo_t> context(cairo_create(surface.get()));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  const RsvgRectangle viewport{0, 0, static_cast<double>(width), static_cast<double>(height)};
  if (rsvg_handle_render_document(handle.get(), context.get(), &viewport, &error) == FALSE) reject(error, source);

  std::vector<std::byte> png;
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
  if (status != CAIRO_STATUS_SUCCESS) {
    fail(ErrorKind::kInternal, "{} could not be encoded as PNG: {}", source, cairo_status_to_string(status));
  }
  return png;
}

std::vector<std::byte> render_svg(std::string_view svg, std::size_t side, const std::string& source) {
  return render_svg(svg, side, side, source);
}

}  // namespace annulus
