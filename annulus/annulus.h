// The facade: the only header that a program using the installed library includes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/error_type.h"
#include "annulus/base/matrix.h"
#include "annulus/base/progress.h"
#include "annulus/eval/score/score_report.h"
#include "annulus/learn/model/model.h"
#include "annulus/learn/model/prediction.h"
#include "annulus/task/feature_set.h"

/// \mainpage Annulus for C++
/// Few-shot image recognition on CPU. Include annulus/annulus.h and link annulus::annulus:
///
/// \code{.cmake}
/// find_package(annulus 0.1 REQUIRED)
/// target_link_libraries(my_program PRIVATE annulus::annulus)
/// \endcode
///
/// \code
/// #include <annulus/annulus.h>
///
/// #include <cstdio>
///
/// int main() {
///   const annulus::FeatureSet set = annulus::load_features("features.npz");
///   const annulus::Model model = annulus::fit(set);
///   annulus::save(model, "model.safetensors");
///   for (const annulus::Prediction& p : annulus::predict(annulus::load_model("model.safetensors"), set)) {
///     std::printf("%s %.2f\n", p.label.c_str(), p.probability);
///   }
/// }
/// \endcode
///
/// The functions are those of namespace annulus. \b Errors: all throw annulus::Error and nothing else of their own.
/// \b Threads: functions may be called from several threads at once; a FeatureSet and a Model may be shared while
/// nobody changes them. `threads = 0` means all processors, and the number of threads never changes a result.
/// \b Determinism: the same input, options and version give the same model and predictions, bit for bit; between
/// instruction sets (AVX2 and AVX-512, say) sums differ by rounding.

/// Few-shot image recognition: features in, models and predictions out.
namespace annulus {

/// Version of the library that the program was linked with, as "major.minor.patch".
/// \return Text that lives as long as the program.
std::string_view version() noexcept;

/// Reads a feature file: .npz, .safetensors, .npy, .csv, LIBSVM text (.svm, .libsvm, .txt) or tensors saved by PyTorch
/// (.pth, .pt). Layouts are described in docs/reference/file-formats.md. Features of .safetensors and .npy stay in the
/// mapped file and take no memory; the file must not be shortened while the set lives.
///
/// \param path The file. Its format is found by content, else by the end of its name.
/// \param labels Labels of a file that has none: a .npy array, or text with one label per line. Empty: labels are in
///   the file, or beside X_features.npy in X_labels.npy or X_targets.npy, or there are none.
/// \return At least one example of at least one dimension, all finite, none all zero.
/// \throws Error kIo: the file cannot be opened. kFormat: it is damaged or of no known format. kInput: its features
///   cannot be used. kUsage: it has labels of its own beside `labels`.
FeatureSet load_features(const std::filesystem::path& path, const std::filesystem::path& labels = {});

/// How images become features. All defaults are those of the command line.
struct ImageOptions {
  std::string preprocess{};  ///< Preset ("imagenet", "clip", ...) or recipe; empty: what the backbone asks for.
  /// Views of each image whose features are averaged: "none", "flip" (with its mirror image), "N" (with N - 1 random
  /// crops) or "N:SEED"; empty: none, or those that the model was trained with.
  std::string views{};
  std::filesystem::path cache{};  ///< Folder of features computed before; empty: the user's cache.
  std::filesystem::path list{};   ///< k-shot list: use only the images it names, in its order; empty: all.
  bool strict = false;            ///< Throw for an image that cannot be read, instead of leaving it out.
  std::string precision{};        ///< "float32", "int8" or "auto"; empty: float32, or that of the model.
  bool srgb = false;              ///< Convert images to sRGB by their ICC profile, also where `preprocess` does not.
  int threads = 0;                ///< 0: all processors.
  ProgressCallback progress{};    ///< Hears of downloads and of images done; returning false stops.
  /// Takes one sentence for each image left out (the first ten), and for files that were passed over.
  std::function<void(const std::string&)> note{};
  /// Boxes in photos, each an example of its own: COCO's or MegaDetector's JSON, or metadata with x, y, width and
  /// height. Photos without a box are left out. Empty: photos as they are, and the boxes of a folder's own metadata.
  std::filesystem::path boxes{};
  double box_confidence = 0.2;  ///< Boxes that MegaDetector is less sure of are left out.
  double every = 0;             ///< Frames of videos, each an example: one in each period of so many seconds; 0: none.
  bool scenes = false;          ///< Or the first frame of each scene. Without one of the two, videos are not taken.
  /// Folders in class folders are classes too, named by their path ("birds/woodpeckers/downy"): for
  /// FitOptions::hierarchy.
  bool nested = false;
  std::optional<double> crop_margin{};  ///< Added on each side of a box, as a fraction of its width (height); none: 0,
                                        ///< or what the model was trained with.
};

/// Computes the features of labelled images. Each image is encoded once: features are kept in the cache and mapped from
/// there, so they take no memory.
///
/// \param folder A folder per class (`folder/<class>/*`), `folder/{train,test}/<class>/*`, or a folder with
///   metadata.csv or metadata.jsonl, or a .json file of boxes; every format of docs/reference/file-formats.md.
/// \param backbone A name that `annulus backbones` lists, which is downloaded on first use, or an ONNX file, or
///   several joined by "+"; empty or "auto": the best recommended network in the cache, else "resnet50".
/// \param options See ImageOptions.
/// \return One example per readable image, with labels, paths and provenance; ordered by class, then by path.
/// \throws Error kUsage: no such backbone. kIo: the folder is missing, the download or the cache failed. kInput: no
///   images, no labels, an empty class, or no image that can be used. kCancelled.
FeatureSet load_images(const std::filesystem::path& folder, const std::string& backbone = {},
                       const ImageOptions& options = {});

/// Computes the features of images to predict with the backbone and preprocessing that a model was trained with, or
/// reads a feature file and checks that it fits the model. Labels are kept where there are any, and not needed.
///
/// \param model Its provenance names the backbone.
/// \param path An image, a box in one ("photo.jpg#xywh=10,20,30,40"), a folder of images, or a feature file.
/// \param options See ImageOptions; an empty `preprocess` means the model's.
/// \param backbone The ONNX file of a backbone that has no name; empty: the one that the model names.
/// \throws Error kInput: other dimension, backbone or preprocessing than the model's. kUsage: the model does not name
///   a backbone that can be found. Else as load_images() and load_features().
FeatureSet load_input(const Model& model, const std::filesystem::path& path, const ImageOptions& options = {},
                      const std::string& backbone = {});

/// What fit() does. All defaults are those of `annulus fit`.
struct FitOptions {
  std::string recipe = "default";  ///< What to train with: "default", "ibm2", "paper", ...; see docs/reference/cli.md.
  std::size_t shots = 0;           ///< Training examples to draw per class; 0: all.
  std::uint64_t seed = 0;          ///< Which examples are drawn, and every random number of the training.
  int threads = 0;                 ///< 0: all processors. The model does not depend on it.
  bool calibrate = true;      ///< Hold examples out to calibrate probabilities and to learn to reject unknown inputs.
  bool keep_examples = true;  ///< Keep up to 64 examples per class in the model, for updates and explanations.
  /// Unlabelled examples (labels are not looked at), whose nearest neighbours show how examples of one class differ;
  /// null: none. Features of the same backbone. A pool too small for the number of classes is not used.
  const FeatureSet* unlabelled = nullptr;
  /// Class names are paths, "birds/woodpeckers/downy", and each part of the path is a group of the next one.
  /// Predictions name a group where the class is unsure.
  bool hierarchy = false;
  /// CSV file of names and their groups, a pair a line ("downy,woodpeckers"); groups may have groups. Empty: none.
  std::filesystem::path parents{};
  std::string data_licence{};   ///< Licence of the training data, for the model's record; may be empty.
  ProgressCallback progress{};  ///< Hears how far the fit is; returning false stops it.
};

/// Trains a model: what `annulus fit` does, to the same bits. Examples whose FeatureSet::is_train is 0 are not used.
///
/// \param set Labelled examples of two or more classes.
/// \param options See FitOptions.
/// \return A model of set.classes() classes for features of set.dimension() dimensions.
/// \throws Error kUsage: an unknown recipe. kInput: no labels, fewer than two classes, or a class with fewer than
///   `shots` training examples, or groups that contain themselves or have names of classes. kCancelled.
Model fit(const FeatureSet& set, const FitOptions& options = {});

/// Writes a model file (.safetensors), which `annulus predict`, the server and Python read too. The file appears whole
/// or not at all.
/// \throws Error kIo: the file cannot be written. kInput: the model could not be read back, e.g. class names that are
///   not unique.
void save(const Model& model, const std::filesystem::path& path);

/// Reads a model file. Every number and name in it is checked, and nothing in it is executed.
/// \throws Error kIo: the file cannot be opened. kFormat: it is not a model file, or a damaged one.
Model load_model(const std::filesystem::path& path);

/// What predict() does. All defaults are those of `annulus predict`.
struct PredictOptions {
  std::size_t top = 5;  ///< Classes to list per example, at least 1.
  double false_reject =
      0.05;              ///< Fraction of known inputs that may be rejected as unknown, from 0 to below 1; 0: none.
  bool explain = false;  ///< Add an Explanation; needs a model that kept its examples.
  /// Frames of a video, an odd number, that are averaged for the prediction of each: the geometric mean of their
  /// probabilities. 1: each frame by itself.
  std::size_t consensus = 1;
  int threads = 0;              ///< 0: all processors.
  ProgressCallback progress{};  ///< Hears of examples done; returning false stops.
  /// Of a model whose classes have groups: a prediction names the smallest group, or the class, that is at least as
  /// probable as this, else the most probable of the largest groups. 0: always a class.
  double sure = 0.8;
};

/// Predicts the class of every example of a set: what `annulus predict` does, to the same bits.
///
/// \param model From fit() or load_model().
/// \param set Of the model's dimension; labels are not looked at.
/// \param options See PredictOptions.
/// \return One Prediction per example, in the order of the set.
/// \throws Error kInput: the features come from another backbone or preprocessing or have another dimension than those
///   that the model was trained on, or an explanation was asked of a model without examples. kUsage: an option out of
///   range. kCancelled.
std::vector<Prediction> predict(const Model& model, const FeatureSet& set, const PredictOptions& options = {});

/// The same for feature rows in memory.
/// \param model From fit() or load_model().
/// \param rows Raw features, one example per row (examples x dimension): not normalised, as the backbone gives them.
/// \param options See PredictOptions.
/// \throws Error as above; also kInput for a row of zeros.
std::vector<Prediction> predict(const Model& model, ConstMatrixView<float> rows, const PredictOptions& options = {});

/// What score() does. All defaults are those of `annulus score`.
struct ScoreOptions {
  double false_reject = 0.05;   ///< False-rejection rate of ScoredExample::rejected, from 0 to below 1.
  int threads = 0;              ///< 0: all processors.
  ProgressCallback progress{};  ///< Hears of examples done; returning false stops.
};

/// Scores a model on labelled examples: what `annulus score` does, to the same numbers. Examples whose
/// FeatureSet::is_train is 1 are left out. Classes are matched by name; examples of other classes are unknown inputs.
///
/// \param model From fit() or load_model().
/// \param set Labelled, of the model's dimension; load_input() makes one of a folder of photos.
/// \param options See ScoreOptions.
/// \return Accuracy with its interval, classes, confusions, calibration, rejection, and every example; about a hundred
///   bytes per example.
/// \throws Error kInput: no labels, none that the model knows, nothing but training examples, or features of another
///   backbone, preprocessing or dimension than the model's. kUsage: an option out of range. kCancelled.
ScoreReport score(const Model& model, const FeatureSet& set, const ScoreOptions& options = {});

}  // namespace annulus
