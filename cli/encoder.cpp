// --backbone, --feature, --preprocess, --precision, --cache, --strict and --offline.
#include "cli/encoder.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "annulus/base/error.h"
#include "annulus/pipeline/backbones/backbone_cost.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "cli/feature_option.h"
#include "cli/terminal/interrupt.h"

namespace annulus::cli {
namespace {

constexpr const char* kGroup = "Image options";

// One line of the terminal; empty at its end.
std::string read_answer() {
  std::string answer;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (char letter = 0; letter != '\n';) {
    if (::poll(&input, 1, -1) < 0) {
      stop_if_interrupted();
      continue;
    }
    if (::read(STDIN_FILENO, &letter, 1) <= 0) break;
    if (letter != '\n') answer += letter;
  }
  return answer;
}

std::string seconds_text(double seconds) {
  constexpr double kMinute = 60.0;
  return seconds < 2.0 * kMinute ? fmt::format("{:.0f} s", std::ceil(seconds))
                                 : fmt::format("{:.0f} min", seconds / kMinute);
}

// Size, licence, accuracy and time.
std::string terms_text(const BackboneOffer& offer) {
  const BackboneEntry& entry = *offer.entry;
  std::string text = fmt::format("{:.0f} MB, {}", download_megabytes(entry), entry.licence);
  if (entry.imagenet_accuracy > 0) {
    text += fmt::format(", ImageNet {:.1f} % ({})", entry.imagenet_accuracy, entry.imagenet_measure);
  }
  if (offer.seconds > 0) text += fmt::format(", about {} for these images", seconds_text(offer.seconds));
  return text;
}

PhotoViews read_views(const std::string& text) {
  try {
    return views_from_text(text);
  } catch (const Error& error) {
    throw CLI::ValidationError("--views", error.message_with("it"));
  }
}

std::string ask_backbone(std::span<const BackboneOffer> offers) {
  fmt::print(stderr, "\r\033[KWhich network should encode the images? It is downloaded once and kept.\n");
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const std::string& advice = offers[i].entry->advice;
    fmt::print(stderr, "  {}  {:<15} {}{}{}\n", i + 1, offers[i].entry->name, terms_text(offers[i]),
               advice.empty() ? "" : "; ", advice);
  }
  for (;;) {
    fmt::print(stderr, "Number, or Enter for {}: ", offers.front().entry->name);
    std::fflush(stderr);
    const std::string answer = read_answer();
    if (answer.empty()) return offers.front().entry->name;
    const auto found = std::find_if(offers.begin(), offers.end(), [&](const BackboneOffer& offer) {
      return answer == offer.entry->name || answer == std::to_string(&offer - offers.data() + 1);
    });
    if (found != offers.end()) return found->entry->name;
    fmt::print(stderr, "expected a number from 1 to {}, found \"{}\"\n", offers.size(), answer);
  }
}

void put_feature(std::string& backbone, const std::string& feature) {
  try {
    backbone = with_feature(backbone, feature);
  } catch (const Error& error) {
    if (error.field().empty()) throw;
    throw CLI::ValidationError("--feature", error.message_with("it"));
  }
}

}  // namespace

std::string backbone_text(const FeatureSet& set) {
  const auto found = set.provenance().find("backbone");
  if (found == set.provenance().end()) return {};
  std::string text = "backbone " + found->second;
  if (const BackboneEntry* better = better_backbone(found->second)) {
    text += fmt::format("; better at most things: --backbone {} ({})", better->name,
                        terms_text({better, expected_seconds(*better, set.rows(), 0)}));
  }
  return text;
}

void add_encoder_options(CLI::App& command, EncoderOptions& options, const std::string& default_backbone) {
  command
      .add_option("--backbone", options.backbone,
                  "Network that encodes images: a name that annulus backbones lists, or an ONNX file; NAME+NAME joins "
                  "two; default: " +
                      default_backbone)
      ->type_name("NAME|FILE")
      ->group(kGroup);
  add_feature_option(command, options.backbone, kGroup);
  command
      .add_option("--preprocess", options.preprocess,
                  "Preprocessing of images: a preset (imagenet, clip, ...) or a recipe; default: that of the network")
      ->type_name("RECIPE")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--views", [&options](const std::string& text) { options.views = read_views(text); },
          "Encode the mean of several views of each image: flip (with its mirror image), N (with N - 1 random crops) "
          "or "
          "N:SEED; default: none, or as the model was trained")
      ->type_name("none|flip|N")
      ->group(kGroup);
  command
      .add_flag("--srgb", options.srgb,
                "Convert images to sRGB by the colour profile (ICC) in their file; default: no, or as the model was "
                "trained")
      ->group(kGroup);
  command
      .add_option("--precision", options.precision,
                  "Numbers that the network computes with: float32; int8, from its first use on ranged on the images; "
                  "auto: int8 where it is faster here and close enough; default: float32, or that of the model")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"float32", "int8", "auto"}))
      ->group(kGroup);
  command.add_option("--cache", options.cache, "Folder of cached features; default: the user's cache")
      ->type_name("DIR")
      ->group(kGroup);
  command.add_flag("--strict", options.strict, "Stop at an image that cannot be read, instead of leaving it out")
      ->group(kGroup);
  add_offline(command, kGroup);
  options.note = print_note;
  options.ask = backbone_question();
}

void add_feature_option(CLI::App& command, std::string& backbone, const std::string& group) {
  CLI::Option* const option =
      command
          .add_option_function<std::string>(
              "--feature", [&backbone](const std::string& feature) { put_feature(backbone, feature); },
              "Feature of the transformers that --backbone names: cls (class token), mean (of the patch tokens) or "
              "cls+mean (both joined), as in NAME:mean; default: their own, or that of the model")
          ->type_name("KIND")
          ->check(CLI::IsMember(std::vector<std::string>{"cls", "mean", "cls+mean"}));
  if (!group.empty()) option->group(group);
}

void add_view_examples(CLI::App& command, EncoderOptions& options) {
  command
      .add_flag("--view-examples", options.view_examples,
                "Make every view of --views a training example, in place of their mean")
      ->group(kGroup);
}

BackboneQuestion backbone_question() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return {};
  return ask_backbone;
}

void add_offline(CLI::App& command, const std::string& group) {
  CLI::Option* const option = command.add_flag_callback(
      "--offline", [] { ::setenv("ANNULUS_OFFLINE", "1", 1); },
      "Download nothing: fail where something is missing (as with ANNULUS_OFFLINE=1)");
  if (!group.empty()) option->group(group);
}

void print_note(const std::string& line) {
  fmt::print(stderr, "{}{}\n", ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", line);
  std::fflush(stderr);
}

}  // namespace annulus::cli
