// Feature sets and what makes them: files, folders of images, images in memory.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/base/parallel_progress.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/encode.h"
#include "annulus/pipeline/encoder.h"
#include "annulus/pipeline/load.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/features/feature_file.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/vision/image/colour_profile.h"
#include "annulus/vision/image/image.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;
using Pixels = py::array_t<std::uint8_t, py::array::c_style | py::array::forcecast>;
using SharedSet = std::shared_ptr<FeatureSet>;

// Keeps an array alive on behalf of the library, which may let go of it without the interpreter's lock.
std::shared_ptr<const void> owner_of(const py::object& object) {
  return {object.inc_ref().ptr(), [](PyObject* pointer) {
            const py::gil_scoped_acquire lock;
            Py_DECREF(pointer);
          }};
}

// A licence or a checksum of a network that is about to be downloaded, as a warning; called without the interpreter's
// lock.
void warn_user(const std::string& line) {
  const py::gil_scoped_acquire lock;
  if (PyErr_WarnEx(PyExc_UserWarning, line.c_str(), 1) != 0) PyErr_Clear();  // the work goes on
}

std::optional<PhotoViews> views_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(views_from_text(text));
}

SharedSet set_of_arrays(const Rows& rows, const Labels& labels, std::vector<std::string> class_names,
                        std::vector<std::string> paths, std::vector<std::uint8_t> is_train,
                        std::vector<std::int32_t> groups, const std::string& source) {
  FeatureSetParts parts;
  parts.features = view_of(rows);
  parts.owner = owner_of(rows);
  parts.labels = vector_of(labels);
  parts.class_names = std::move(class_names);
  parts.paths = std::move(paths);
  parts.is_train = std::move(is_train);
  parts.groups = std::move(groups);
  parts.source = source;
  const py::gil_scoped_release release;
  return std::make_shared<FeatureSet>(std::move(parts));
}

py::array_t<float> features_of(const FeatureSet& set) {
  Matrix<float> rows(set.rows(), set.dimension());
  set.copy_rows(0, rows.view());
  return array_of(std::move(rows));
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

// Rows of images whose files are named, in their order; the cache is used. One that cannot be read is an error.
py::array_t<float> encode_files(const Encoder& encoder, std::vector<std::string> paths, const std::string& cache,
                                int threads, const py::object& progress) {
  ImageList list;
  list.paths = std::move(paths);
  EncoderOptions options;
  options.cache = cache;
  options.strict = true;
  ExtractReport report;
  const FeatureSet set = without_lock(progress, [&](const ProgressCallback& heard) {
    return encode_list(list, "images", encoder, extract_options(options, encoder, threads), report, heard);
  });
  return features_of(set);
}

// With a record of features, the encoder that made them; `images` give the ranges of an int8 network.
std::shared_ptr<Encoder> open_for_python(const std::string& backbone, const std::string& preprocess,
                                         const std::string& views, bool srgb, std::optional<double> crop_margin,
                                         const std::string& precision, const std::vector<std::string>& images,
                                         const std::map<std::string, std::string>& record, const py::object& progress) {
  EncoderOptions options{backbone, preprocess, "", false, warn_user};
  options.precision = precision;
  options.views = views_of(views);
  options.srgb = srgb;
  options.crop_margin = crop_margin;
  return without_lock(progress, [&](const ProgressCallback& heard) {
    if (record.empty()) return std::make_shared<Encoder>(open_encoder(options, heard, images));
    Model model;
    model.provenance = record;
    return std::make_shared<Encoder>(open_encoder_of(model, "the record of the features", options, heard));
  });
}

Image image_of(const Pixels& pixels) {
  if (pixels.ndim() != 3 || pixels.shape(2) != 3) {
    fail(ErrorKind::kInput, "expected pixels as an array of height x width x 3, found {} dimensions", pixels.ndim());
  }
  Image image = make_image(static_cast<std::size_t>(pixels.shape(1)), static_cast<std::size_t>(pixels.shape(0)));
  std::memcpy(image.pixels.get(), pixels.data(), 3 * image.width * image.height);
  return image;
}

// The pixels, with the colours of an ICC profile, as sRGB.
py::array_t<std::uint8_t> srgb_pixels(const Pixels& pixels, const std::string& profile) {
  Image image = image_of(pixels);
  convert_to_srgb(image, std::as_bytes(std::span(profile)), {}, "image");
  py::array_t<std::uint8_t> converted({image.height, image.width, std::size_t{3}});
  std::memcpy(converted.mutable_data(), image.pixels.get(), 3 * image.width * image.height);
  return converted;
}

// Rows of images in memory: `row_of(i, name)` gives that of image i.
template <class RowOf>
py::array_t<float> encode_each(const Encoder& encoder, std::size_t count, const RowOf& row_of, int threads,
                               const py::object& progress) {
  Matrix<float> rows(count, encoder.dimension());
  without_lock(progress, [&](const ProgressCallback& heard) {
    parallel_for_with_progress(threads, count, "encode images", heard, [&](std::size_t i) {
      const std::vector<float> row = row_of(i, "image " + std::to_string(i));
      std::copy(row.begin(), row.end(), rows.row(i).begin());
    });
    return true;
  });
  return array_of(std::move(rows));
}

py::array_t<float> encode_pixels(const Encoder& encoder, const std::vector<Pixels>& pixels, int threads,
                                 const py::object& progress) {
  std::vector<Image> images;
  images.reserve(pixels.size());
  for (const Pixels& each : pixels) images.push_back(image_of(each));
  const auto row_of = [&](std::size_t i, const std::string& name) { return encode_image(images[i], name, encoder); };
  return encode_each(encoder, images.size(), row_of, threads, progress);
}

py::array_t<float> encode_bytes(const Encoder& encoder, const std::vector<std::string>& files, int threads,
                                const py::object& progress) {
  const auto row_of = [&](std::size_t i, const std::string& name) {
    return encode_image(std::as_bytes(std::span(files[i])), name, encoder);
  };
  return encode_each(encoder, files.size(), row_of, threads, progress);
}

void add_feature_set(py::module_& module) {
  py::class_<FeatureSet, SharedSet>(module, "FeatureSet")
      .def(py::init(&set_of_arrays), py::arg("rows"), py::arg("labels"), py::arg("class_names"),
           py::arg("paths") = std::vector<std::string>{}, py::arg("is_train") = std::vector<std::uint8_t>{},
           py::arg("groups") = std::vector<std::int32_t>{}, py::arg("source") = "arrays")
      .def_property_readonly("features", &features_of)
      .def_property_readonly("rows", &FeatureSet::rows)
      .def_property_readonly("dimension", &FeatureSet::dimension)
      .def_property_readonly("labels",
                             [](const FeatureSet& set) { return array_of(copied<std::int32_t>(set.labels())); })
      .def_property_readonly("class_names",
                             [](const FeatureSet& set) { return copied<std::string>(set.class_names()); })
      .def_property_readonly("paths", [](const FeatureSet& set) { return copied<std::string>(set.paths()); })
      .def_property_readonly("is_train", [](const FeatureSet& set) { return copied<std::uint8_t>(set.is_train()); })
      .def_property_readonly("groups", [](const FeatureSet& set) { return copied<std::int32_t>(set.groups()); })
      .def_property_readonly("provenance", &FeatureSet::provenance)
      .def("save", [](const FeatureSet& set, const std::filesystem::path& path) { write_features(set, path); });
  module.def(
      "load_set",
      [](const std::filesystem::path& path, const std::string& backbone, const std::string& preprocess,
         const std::string& cache, const std::filesystem::path& boxes, bool srgb, std::optional<double> crop_margin,
         int threads, const std::string& views, const py::object& progress) {
        return without_lock(progress, [&](const ProgressCallback& heard) {
          LoadOptions options;
          options.encoder = {backbone, preprocess, cache, false, warn_user};
          options.encoder.views = views_of(views);
          options.encoder.srgb = srgb;
          options.encoder.crop_margin = crop_margin;
          options.boxes.file = boxes;
          options.threads = threads;
          options.progress = heard;
          return std::make_shared<FeatureSet>(load_set(path, options));
        });
      },
      py::arg("path"), py::arg("backbone") = "", py::arg("preprocess") = "", py::arg("cache") = "",
      py::arg("boxes") = "", py::arg("srgb") = false, py::arg("crop_margin") = py::none(), py::arg("threads") = 0,
      py::arg("views") = "", py::arg("progress") = py::none());
  module.def("srgb_pixels", &srgb_pixels, py::arg("pixels"), py::arg("profile"));
}

}  // namespace

void add_features(py::module_& module) {
  add_feature_set(module);
  py::class_<Encoder, std::shared_ptr<Encoder>>(module, "Encoder")
      .def(py::init(&open_for_python), py::arg("backbone") = "", py::arg("preprocess") = "", py::arg("views") = "",
           py::arg("srgb") = false, py::arg("crop_margin") = py::none(), py::arg("precision") = "",
           py::arg("images") = std::vector<std::string>{}, py::arg("record") = std::map<std::string, std::string>{},
           py::arg("progress") = py::none())
      .def_readonly("name", &Encoder::name)
      .def_property_readonly("dimension", [](const Encoder& encoder) { return encoder.dimension(); })
      .def_property_readonly("provenance", [](const Encoder& encoder) { return feature_provenance(encoder); })
      .def("encode_files", &encode_files, py::arg("paths"), py::arg("cache") = "", py::arg("threads") = 0,
           py::arg("progress") = py::none())
      .def("encode_pixels", &encode_pixels, py::arg("pixels"), py::arg("threads") = 0, py::arg("progress") = py::none())
      .def("encode_bytes", &encode_bytes, py::arg("files"), py::arg("threads") = 0, py::arg("progress") = py::none());
  module.def("with_feature", &with_feature, py::arg("backbone"), py::arg("feature"));
  module.def("check_provenance", &check_same_provenance, py::arg("model"), py::arg("model_source"), py::arg("features"),
             py::arg("source"));
  module.def(
      "list_images",
      [](const std::filesystem::path& root, const std::filesystem::path& boxes, double every, bool scenes) {
        ImageListOptions options;
        options.for_training = true;
        options.boxes.file = boxes;
        options.frames.every = every;
        options.frames.scenes = scenes;
        const ImageList list = list_images(root, options);
        return py::make_tuple(list.paths, array_of(list.labels), list.class_names, array_of(list.groups));
      },
      py::arg("root"), py::arg("boxes") = "", py::arg("every") = 0.0, py::arg("scenes") = false);
}

}  // namespace annulus::python
