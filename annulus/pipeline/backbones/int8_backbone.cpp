// Runs photos through a network in float, writes its int8 form and compares the two.
#include "annulus/pipeline/backbones/int8_backbone.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/base/error.h"
#include "annulus/base/folders.h"
#include "annulus/base/matrix.h"
#include "annulus/base/parallel.h"
#include "annulus/pipeline/backbones/int8_quantization.h"
#include "annulus/pipeline/provenance.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/byte_lock.h"
#include "annulus/store/files/machine.h"
#include "annulus/store/files/mapped_file.h"
#include "annulus/store/files/whole_file.h"
#include "annulus/store/images/image_file.h"
#include "annulus/vision/backbone/backbone.h"
#include "annulus/vision/backbone/image_feature.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace annulus {
namespace {

constexpr std::size_t kLargestInt8Record = std::size_t{1} << 20;
constexpr std::size_t kNameDigits = 8;

std::filesystem::path networks_folder() { return cache_folder() / "backbones"; }

std::filesystem::path record_file(const std::string& float32_sha256) {
  return networks_folder() / (float32_sha256 + ".int8.json");
}

bool is_regular(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string stem_of(const ResolvedBackbone& network) {
  return network.entry != nullptr ? network.entry->name : network.file.stem().string();
}

// Named by what it is made of.
std::string int8_name(const ResolvedBackbone& network, const std::string& float32_sha256,
                      const std::string& quantization) {
  const std::string identity = float32_sha256 + "\n" + quantization;
  return fmt::format("{}-int8-{}.onnx", stem_of(network),
                     sha256_hex(std::as_bytes(std::span(identity))).substr(0, kNameDigits));
}

void write_network(const FileBytes& file, const std::string& float32_sha256, const Quantization& quantization,
                   const std::filesystem::path& target) {
  std::error_code ignored;  // the write says why it fails
  std::filesystem::create_directories(target.parent_path(), ignored);
  AtomicFile out(target);
  write_int8(file.bytes, file.source, float32_sha256, quantization,
             [&](std::span<const std::byte> bytes) { out.write(bytes); });
  out.commit();
}

std::vector<std::string> spread_photos(std::span<const std::string> photos, std::size_t most) {
  std::vector<std::string> chosen;
  const std::size_t count = std::min(most, photos.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(photos[i * photos.size() / count]);
  return chosen;
}

// The inputs of the photos that can be read, in their order.
Matrix<float> inputs_of(std::span<const std::string> photos, const PreprocessRecipe& recipe, int threads) {
  Matrix<float> all(photos.size(), recipe.output_size());
  std::vector<char> usable(photos.size(), 1);
  parallel_for(threads, photos.size(), [&](std::size_t i) {
    try {
      const auto bytes = load_image_bytes(photos[i], decode_options(recipe).limits.max_bytes);
      write_network_input(bytes, photos[i], recipe, all.row(i));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCancelled || error.kind() == ErrorKind::kInternal) throw;
      usable[i] = 0;
    }
  });
  const auto count = static_cast<std::size_t>(std::count(usable.begin(), usable.end(), 1));
  Matrix<float> kept(count, all.cols());
  std::size_t row = 0;
  for (std::size_t i = 0; i < photos.size(); ++i) {
    if (usable[i] != 0) std::copy_n(all.row(i).data(), all.cols(), kept.row(row++).data());
  }
  return kept;
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

void scale_rows(Matrix<float>& rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (const float value : rows.row(i)) sum += static_cast<double>(value) * static_cast<double>(value);
    const auto length = static_cast<float>(std::sqrt(std::max(sum, 1e-30)));
    for (float& value : rows.row(i)) value /= length;
  }
}

// Int8Options::largest_error says what this is.
double error_share(const Backbone& exact, const Backbone& int8, const Matrix<float>& inputs,
                   const PreprocessRecipe& recipe, int threads) {
  Matrix<float> wanted(inputs.rows(), exact.dimension());
  Matrix<float> found(inputs.rows(), exact.dimension());
  exact.run(inputs.view(), recipe.output_height(), recipe.output_width(), wanted.view(), threads);
  int8.run(inputs.view(), recipe.output_height(), recipe.output_width(), found.view(), threads);
  scale_rows(wanted);
  scale_rows(found);
  double error = 0;
  double nearest = 0;
  for (std::size_t i = 0; i < inputs.rows(); ++i) {
    error += squared_distance(wanted.row(i), found.row(i));
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < inputs.rows(); ++j) {
      if (j != i) least = std::min(least, squared_distance(wanted.row(i), wanted.row(j)));
    }
    nearest += least;
  }
  return error / std::max(nearest, 1e-12);
}

// The medians of turns on one thread, float32's over int8's.
double measured_gain(const Backbone& exact, const Backbone& int8, const Matrix<float>& inputs,
                     const PreprocessRecipe& recipe) {
  constexpr std::size_t kTurns = 7;
  std::vector<double> ratios;
  const auto seconds = [&](const Backbone& backbone, std::size_t row) {
    Matrix<float> features(1, backbone.dimension());
    const auto start = std::chrono::steady_clock::now();
    backbone.run(inputs.view().rows_at(row, 1), recipe.output_height(), recipe.output_width(), features.view());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::size_t row = turn % inputs.rows();
    const double float32 = seconds(exact, row);
    ratios.push_back(float32 / std::max(seconds(int8, row), 1e-9));
  }
  std::nth_element(ratios.begin(), ratios.begin() + kTurns / 2, ratios.end());
  return ratios[kTurns / 2];
}

void write_record(const Int8Record& record) {
  const nlohmann::ordered_json json = {{"file", record.file},
                                       {"sha256", record.sha256},
                                       {"float32_sha256", record.float32_sha256},
                                       {"photos", record.photos},
                                       {"weight_bits", record.weight_bits},
                                       {"gain", record.gain},
                                       {"measured_on", record.measured_on},
                                       {"error", record.error}};
  write_file(record_file(record.float32_sha256),
             json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

// Of several processes one makes it.
class MakeLock {
 public:
  MakeLock(const std::string& float32_sha256, const ProgressCallback& progress) {
    std::error_code ignored;
    std::filesystem::create_directories(networks_folder(), ignored);
    const std::filesystem::path file = networks_folder() / (float32_sha256 + ".int8.lock");
    for (held_.emplace(file); !held_->held(); held_.emplace(file)) {
      report(progress, {"make int8", 0, 0, "another process is at it"});
      wait_for_others();
    }
  }

 private:
  std::optional<HeldFile> held_;
};

void check_runnable(const Backbone& backbone) {
  const bool fits = backbone.batch() == 1 && !backbone.channels_last() && backbone.input().type == TensorType::kFloat;
  if (fits) return;
  fail_field(ErrorKind::kInput, "precision",
             "expected {} to be float32 for {}: int8 is made of networks that take one image of float values at a "
             "time, channels first",
             backbone.file().string());
}

void note_processor(const std::filesystem::path& file, int weight_bits, const NoteCallback& note) {
  if (!note || weight_bits <= usual_weight_bits()) return;
  note(fmt::format("{} was made for processors with VNNI, and this one has none: its features may differ",
                   file.filename().string()));
}

Quantization take_ranges(const FileBytes& file, std::span<const std::string> photos, const PreprocessRecipe& recipe,
                         const Int8Options& options, const ProgressCallback& progress, std::size_t& used) {
  constexpr std::size_t kBlock = 16;  // photos whose inputs are in memory at a time
  RangeRun run(file.bytes, file.source);
  for (std::size_t first = 0; first < photos.size(); first += kBlock) {
    report(progress, {"take ranges for int8", first, photos.size(), {}});
    const auto block = photos.subspan(first, std::min(kBlock, photos.size() - first));
    const Matrix<float> inputs = inputs_of(block, recipe, options.threads);
    parallel_for(options.threads, inputs.rows(),
                 [&](std::size_t i) { run.add(inputs.row(i), recipe.output_height(), recipe.output_width()); });
    used += inputs.rows();
  }
  if (used == 0) {
    fail_field(ErrorKind::kInput, "precision", "expected {} to be float32: none of {} photos could be read",
               photos.size());
  }
  return {usual_weight_bits(), run.ranges()};
}

Int8Record make_under_lock(const ResolvedBackbone& network, const Backbone& exact, const PreprocessRecipe& recipe,
                           std::span<const std::string> photos, const Int8Options& options,
                           const ProgressCallback& progress) {
  check_runnable(exact);
  const std::vector<std::string> chosen = spread_photos(photos, options.most_photos + options.check_photos);
  if (chosen.size() < options.least_photos) {
    fail_field(
        ErrorKind::kInput, "precision",
        "expected {} to be float32, or {} photos or more to take int8's ranges from, found {}: annulus backbones "
        "quantize takes them from other photos",
        options.least_photos, chosen.size());
  }
  // Every fifth photo is for the check, where there are enough.
  std::vector<std::string> for_ranges;
  std::vector<std::string> for_check;
  for (std::size_t i = 0; i < chosen.size(); ++i) (i % 5 == 4 ? for_check : for_ranges).push_back(chosen[i]);
  if (for_check.size() < options.least_photos) for_check = for_ranges;

  const FileBytes file = map_file(network.file);
  Int8Record record;
  const Quantization quantization = take_ranges(file, for_ranges, recipe, options, progress, record.photos);
  report(progress, {"make int8", 0, 0, stem_of(network)});
  const std::filesystem::path target =
      networks_folder() / int8_name(network, exact.sha256(), quantization_to_text(quantization));
  write_network(file, exact.sha256(), quantization, target);
  const Backbone int8(target);
  Matrix<float> inputs = inputs_of(for_check, recipe, options.threads);
  if (inputs.rows() == 0) inputs = inputs_of(for_ranges, recipe, options.threads);
  record.file = target.filename().string();
  record.sha256 = int8.sha256();
  record.float32_sha256 = exact.sha256();
  record.weight_bits = quantization.weight_bits;
  report(progress, {"compare int8 with float32", 0, 0, stem_of(network)});
  record.error = error_share(exact, int8, inputs, recipe, options.threads);
  record.gain = measured_gain(exact, int8, inputs, recipe);
  record.measured_on = machine_text();
  write_record(record);
  return record;
}

bool good_for_auto(const Int8Record& record, const Int8Options& options) {
  return record.gain >= options.least_gain && record.error <= options.largest_error &&
         record.measured_on == machine_text() && record.weight_bits <= usual_weight_bits();
}

}  // namespace

Precision parse_precision(const std::string& text) {
  if (text.empty() || text == "float32") return Precision::kFloat32;
  if (text == "int8") return Precision::kInt8;
  if (text == "auto") return Precision::kAuto;
  fail_field(ErrorKind::kUsage, "precision", "expected {} to be float32, int8 or auto, found \"{}\"", text);
}

std::filesystem::path int8_file(const Int8Record& record) { return networks_folder() / record.file; }

std::optional<Int8Record> kept_int8(const std::string& float32_sha256) {
  const std::filesystem::path file = record_file(float32_sha256);
  if (!is_regular(file)) return std::nullopt;
  const WholeFile whole = read_whole_file(file, kLargestInt8Record);
  Int8Record record;
  try {
    const auto json = nlohmann::json::parse(as_text(whole.bytes));
    record.file = std::filesystem::path(json.at("file").get<std::string>()).filename().string();
    record.sha256 = json.at("sha256");
    record.float32_sha256 = json.at("float32_sha256");
    record.photos = json.at("photos");
    record.weight_bits = json.at("weight_bits");
    record.gain = json.at("gain");
    record.measured_on = json.at("measured_on");
    record.error = json.at("error");
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected the record of an int8 network, found a fault: {}; remove the file",
         file.string(), error.what());
  }
  return is_regular(int8_file(record)) ? std::make_optional(std::move(record)) : std::nullopt;
}

Int8Record make_int8_backbone(const ResolvedBackbone& network, const std::string& preprocess,
                              std::span<const std::string> photos, const Int8Options& options,
                              const ProgressCallback& progress) {
  const Backbone exact(network.file);
  const PreprocessRecipe recipe = planar_recipe(choose_recipe(exact, preprocess));
  const MakeLock lock(exact.sha256(), progress);
  return make_under_lock(network, exact, recipe, photos, options, progress);
}

std::filesystem::path file_for_precision(const ResolvedBackbone& network, Precision precision,
                                         const std::string& preprocess, std::span<const std::string> photos,
                                         const Int8Options& options, const ProgressCallback& progress,
                                         const NoteCallback& note) {
  if (precision == Precision::kFloat32) return network.file;
  const std::string sha256 = sha256_hex(map_file(network.file).bytes);
  auto kept = kept_int8(sha256);
  const bool automatic = precision == Precision::kAuto;
  if (!kept && automatic && photos.size() < options.auto_photos) return network.file;
  if (!kept) {
    const Backbone exact(network.file);
    if (exact.metadata("annulus.precision") == "int8") return network.file;  // the user's own file is one
    try {
      const PreprocessRecipe recipe = planar_recipe(choose_recipe(exact, preprocess));
      const MakeLock lock(sha256, progress);
      kept = kept_int8(sha256);  // another process may have made it
      if (!kept) {
        kept = make_under_lock(network, exact, recipe, photos, options, progress);
        if (note) {
          note(
              fmt::format("{} in int8, ranged on {} photos: {:.1f} times as fast as float32 here, error {:.3f} of the "
                          "distance between photos; kept in {}",
                          stem_of(network), kept->photos, kept->gain, kept->error, int8_file(*kept).string()));
        }
      }
    } catch (const Error& error) {
      if (!automatic || error.kind() != ErrorKind::kInput) throw;
      if (note) note(fmt::format("float32, since int8 cannot be made: {}", error.what()));
      return network.file;
    }
  }
  if (automatic && !good_for_auto(*kept, options)) return network.file;
  note_processor(int8_file(*kept), kept->weight_bits, note);
  return int8_file(*kept);
}

std::filesystem::path file_of_record(const ResolvedBackbone& network, const std::map<std::string, std::string>& record,
                                     const NoteCallback& note) {
  const auto entry = [&](const char* key) {
    const auto found = record.find(key);
    return found == record.end() ? std::string() : found->second;
  };
  const std::string wanted = entry("float32_sha256");
  const std::string text = entry("quantization");
  const Quantization quantization = quantization_from_text(text, "the record of int8 features");
  const std::filesystem::path target = networks_folder() / int8_name(network, wanted, text);
  note_processor(target, quantization.weight_bits, note);
  if (is_regular(target)) return target;
  const FileBytes file = map_file(network.file);
  const std::string found = sha256_hex(file.bytes);
  if (found == entry("backbone_sha256")) return network.file;  // the int8 network itself was named
  if (found != wanted) {
    fail(ErrorKind::kInput, "expected the network that int8 features were made with, of sha256 {}, found {} in {}",
         wanted.substr(0, 12), found.substr(0, 12), network.file.string());
  }
  write_network(file, wanted, quantization, target);
  return target;
}

bool remove_int8(const std::string& name) {
  bool removed = false;
  std::error_code error;
  const std::string start = name + "-int8-";
  for (const auto& entry : std::filesystem::directory_iterator(networks_folder(), error)) {
    const std::string file = entry.path().filename().string();
    std::error_code ignored;
    const bool of_name = file.starts_with(start) && file.size() == start.size() + kNameDigits + 5;
    if (of_name) removed = std::filesystem::remove(entry.path(), ignored) || removed;
  }
  return removed;
}

}  // namespace annulus
