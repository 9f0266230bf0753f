// Times decoding and preprocessing of a folder's images on one thread: preprocess_timing FOLDER [RECIPE [ROUNDS]].
// Prints one JSON object with processor milliseconds an image (the best round) and a digest of all tensors in listing
// order.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "annulus/base/checksum.h"
#include "annulus/store/images/image_file.h"
#include "annulus/store/images/image_folder.h"
#include "annulus/vision/preprocess/preprocess.h"

namespace {

// Processor time, which other programs on the machine do not lengthen.
double milliseconds_of(auto&& work) {
  const std::clock_t start = std::clock();
  work();
  return 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

int run(const std::vector<std::string>& arguments) {
  const annulus::ImageList list = annulus::list_images(arguments.at(0));
  const auto recipe = annulus::recipe_from_text(arguments.size() > 1 ? arguments[1] : "imagenet");
  const int rounds = arguments.size() > 2 ? std::stoi(arguments[2]) : 3;
  const annulus::DecodeOptions options = annulus::decode_options(recipe);
  std::vector<std::vector<std::byte>> files;
  for (const auto& path : list.paths) files.push_back(annulus::load_image_bytes(path, options.limits.max_bytes));

  std::vector<float> tensor(recipe.output_size());
  double best_decode = 1e300;
  double best_preprocess = 1e300;
  std::string digest;
  for (int round = 0; round < rounds; ++round) {
    double decode = 0.0;
    double preprocess = 0.0;
    annulus::Sha256 hash;
    for (std::size_t i = 0; i < files.size(); ++i) {
      annulus::Image image;
      decode += milliseconds_of([&] { image = annulus::decode_image(files[i], options, list.paths[i]); });
      preprocess += milliseconds_of([&] { annulus::preprocess(image, recipe, tensor); });
      hash.update(std::as_bytes(std::span(tensor)));
    }
    best_decode = std::min(best_decode, decode);
    best_preprocess = std::min(best_preprocess, preprocess);
    digest = hash.finish_hex();
  }
  const auto count = static_cast<double>(files.size());
  fmt::print("{{\"images\": {}, \"decode_ms\": {:.4f}, \"preprocess_ms\": {:.4f}, \"sha256\": \"{}\"}}\n", files.size(),
             best_decode / count, best_preprocess / count, digest);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  try {
    if (count < 2) {
      fmt::print(stderr, "usage: preprocess_timing FOLDER [RECIPE [ROUNDS]]\n");
      return 2;
    }
    return run({values + 1, values + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
