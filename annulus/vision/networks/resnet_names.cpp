// Takes a publisher's name apart and puts it together as another program does.
#include "annulus/vision/networks/resnet_names.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace annulus {
namespace {

std::vector<std::string> split_at_dots(std::string_view name) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = name.find('.');
    parts.emplace_back(name.substr(0, end));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 1);
  }
}

// ".weight" of the parts from the given one on.
std::string rest_of(const std::vector<std::string>& parts, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < parts.size(); ++i) text += "." + parts[i];
  return text;
}

// "conv2" as {"conv", 2}; the digits of the publishers' layers are single.
std::pair<std::string, int> letters_and_number(const std::string& part) {
  if (part.empty() || part.back() < '0' || part.back() > '9') return {part, 0};
  return {part.substr(0, part.size() - 1), part.back() - '0'};
}

// One tensor of a stage: "layer1.0.conv2.weight", "layer1.0.downsample.0.weight".
struct StageTensor {
  int stage = 0;  // from 0
  std::string block;
  bool is_shortcut = false;
  bool is_norm = false;
  int number = 0;  // of the convolution or norm, from 1
  std::string rest;
};

bool is_of_stage(const std::vector<std::string>& parts) { return parts.size() > 3 && parts[0].starts_with("layer"); }

StageTensor stage_tensor(const std::vector<std::string>& parts) {
  StageTensor tensor;
  tensor.stage = letters_and_number(parts[0]).second - 1;
  tensor.block = parts[1];
  tensor.is_shortcut = parts[2] == "downsample";
  tensor.is_norm = tensor.is_shortcut ? parts[3] == "1" : parts[2].starts_with("bn");
  tensor.number = letters_and_number(parts[2]).second;
  tensor.rest = rest_of(parts, tensor.is_shortcut ? 4 : 3);
  return tensor;
}

std::string timm_name(const std::string& name) {
  if (name == "layer") return "stages.";
  const std::vector<std::string> parts = split_at_dots(name);
  if (parts[0] == "attnpool" && parts.size() > 1) {
    static const std::map<std::string, std::string> kPooling = {
        {"positional_embedding", "pos_embed"}, {"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}, {"c_proj", "proj"}};
    const auto found = kPooling.find(parts[1]);
    return "head." + (found == kPooling.end() ? parts[1] : found->second) + rest_of(parts, 2);
  }
  if (is_of_stage(parts)) {
    const StageTensor tensor = stage_tensor(parts);
    const std::string layer = tensor.is_shortcut
                                  ? "shortcut.conv"
                                  : fmt::format("conv{}_{}", tensor.number, tensor.number == 2 ? "kxk" : "1x1");
    return fmt::format("stages.{}.{}.{}.{}{}", tensor.stage, tensor.block, layer, tensor.is_norm ? "bn" : "conv",
                       tensor.rest);
  }
  const auto [kind, number] = letters_and_number(parts[0]);
  return fmt::format("stem.conv{}.{}{}", number, kind, rest_of(parts, 1));
}

std::string transformers_name(const std::string& name) {
  if (name == "layer") return "encoder.stages.";
  const std::vector<std::string> parts = split_at_dots(name);
  const auto kind_text = [](bool is_norm) { return is_norm ? "normalization" : "convolution"; };
  if (!is_of_stage(parts)) {
    return fmt::format("embedder.embedder.{}{}", kind_text(parts[0].starts_with("bn")), rest_of(parts, 1));
  }
  const StageTensor tensor = stage_tensor(parts);
  const std::string layer = tensor.is_shortcut ? "shortcut" : fmt::format("layer.{}", tensor.number - 1);
  return fmt::format("encoder.stages.{}.layers.{}.{}.{}{}", tensor.stage, tensor.block, layer,
                     kind_text(tensor.is_norm), tensor.rest);
}

}  // namespace

const std::array<ResnetNames, 2>& known_resnet_names(NetworkFamily family) {
  static constexpr std::array<ResnetNames, 2> kClip = {ResnetNames{"", "attnpool.q_proj.weight", nullptr},
                                                       ResnetNames{"timm", "stem.conv1.conv.weight", &timm_name}};
  static constexpr std::array<ResnetNames, 2> kOthers = {
      ResnetNames{"", "layer1.0.conv1.weight", nullptr},
      ResnetNames{"transformers", "embedder.embedder.convolution.weight", &transformers_name}};
  return family == NetworkFamily::kClipResnet ? kClip : kOthers;
}

const ResnetNames& resnet_names(NetworkFamily family, const TensorFile& file, const std::string& prefix) {
  const auto& [publisher, other] = known_resnet_names(family);
  return file.find(prefix + other.anchor) != nullptr ? other : publisher;
}

}  // namespace annulus
