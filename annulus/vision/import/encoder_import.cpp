// Tries every prefix under which the encoder might be stored and keeps the best one that fits.
#include "annulus/vision/import/encoder_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/vision/networks/clip_resnet_builder.h"
#include "annulus/vision/networks/convnext_builder.h"
#include "annulus/vision/networks/encoder_tensors.h"
#include "annulus/vision/networks/mobilenet_builder.h"
#include "annulus/vision/networks/position_table.h"
#include "annulus/vision/networks/resnet_builder.h"
#include "annulus/vision/networks/resnet_names.h"
#include "annulus/vision/networks/vit_builder.h"

namespace annulus {
namespace {

// Each candidate prefix costs one trial build; a checkpoint has a handful.
constexpr std::size_t kMaximumCandidates = 64;

// Tensors that every network of a family has exactly one of.
std::vector<std::string> anchors(NetworkFamily family) {
  switch (family) {
    case NetworkFamily::kVit:
      return {"patch_embed.proj.weight", "embeddings.patch_embeddings.projection.weight"};
    case NetworkFamily::kResnet:
    case NetworkFamily::kClipResnet: {
      const auto& [publisher, other] = known_resnet_names(family);
      return {publisher.anchor, other.anchor};
    }
    case NetworkFamily::kWideResnet:
      return {"block1.layer.0.conv1.weight"};
    case NetworkFamily::kClipVit:
      return {"ln_pre.weight", "vision_model.pre_layrnorm.weight", "norm_pre.weight"};
    case NetworkFamily::kDinov3Vit:
      return {"patch_embed.proj.weight", "embeddings.patch_embeddings.weight"};
    case NetworkFamily::kSiglip:
      return {"vision_model.head.probe", "attn_pool.latent"};
    case NetworkFamily::kConvnext:
      return {"downsample_layers.0.0.weight", "stem.0.weight", "embeddings.patch_embeddings.weight",
              "stages.0.downsample_layers.0.weight"};
    case NetworkFamily::kMobilenetV4:
      return {"conv_stem.weight"};
    default:
      return {"layer1.conv1.weight", "layer1.0.conv1.weight"};
  }
}

bool has_resnet_names(NetworkFamily family) {
  return family == NetworkFamily::kResnet || family == NetworkFamily::kClipResnet;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Lower is better: a network averaged over training beats the one being trained, except where the authors of the
// method use the trained one (MoCo, BYOL).
int rank(const std::string& prefix) {
  for (const char* preferred : {"teacher", "target_encoder", "base_encoder", "encoder_q"}) {
    if (contains(prefix, preferred)) return 0;
  }
  for (const char* second : {"momentum_encoder", "encoder_k", "target_net", "_ema"}) {
    if (contains(prefix, second)) return 2;
  }
  return contains(prefix, "student") ? 3 : 1;
}

std::vector<std::string> candidate_prefixes(const TensorFile& file, const Architecture& net,
                                            const EncoderChoice& choice) {
  std::set<std::string> prefixes;
  for (const auto& [name, tensor] : file.tensors()) {
    for (const std::string& anchor : anchors(net.family)) {
      if (!name.ends_with(anchor) || !contains(name, choice.within)) continue;
      const std::string prefix = name.substr(0, name.size() - anchor.size());
      if (prefix.empty() || prefix.back() == '.') prefixes.insert(prefix);
    }
  }
  std::vector<std::string> sorted(prefixes.begin(), prefixes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
    return std::pair(rank(a), a.size()) < std::pair(rank(b), b.size());
  });
  if (sorted.size() > kMaximumCandidates) {
    fail(ErrorKind::kInput, "{}: expected one encoder, found {} places that could be one", file.source(),
         sorted.size());
  }
  return sorted;
}

std::string layout_name(const EncoderTensors& tensors, const Architecture& net) {
  const std::string& prefix = tensors.prefix();
  const TensorFile& file = tensors.file();
  const NetworkFamily family = net.family;
  const auto describe = [&]() -> std::string {
    const std::string named = has_resnet_names(family) ? resnet_names(family, file, prefix).program : "";
    if (family == NetworkFamily::kClipResnet) return "CLIP, names of " + (named.empty() ? "OpenAI" : named);
    if (!named.empty()) return "ResNet, names of " + named;
    if (family == NetworkFamily::kMobilenetV4) return "MobileNetV4, names of timm";
    if (family == NetworkFamily::kConvnext) return "ConvNeXt, names of " + convnext_names(tensors);
    if (family == NetworkFamily::kClipVit) return "CLIP, names of " + vit_layout(net, tensors).program;
    if (family == NetworkFamily::kSiglip) return "SigLIP, names of " + vit_layout(net, tensors).program;
    if (family == NetworkFamily::kDinov3Vit) return "DINOv3, names of " + vit_layout(net, tensors).program;
    if (contains(prefix, "teacher") || contains(prefix, "student")) return "DINO training file";
    if (contains(prefix, "base_encoder") || contains(prefix, "momentum_encoder")) return "MoCo v3 training file";
    if (contains(prefix, "target_encoder")) return "MSN";
    if (contains(prefix, "classy_state_dict")) return "VISSL (SimCLR)";
    if (prefix.starts_with("model_sd.")) return "Meta-Baseline";
    if (prefix.starts_with("state.") && family == NetworkFamily::kWideResnet) return "S2M2_R";
    if (prefix.starts_with("model.") && contains(prefix, "backbone.")) return "PMF";
    if (prefix.starts_with("state_dict.") || contains(prefix, "backbone.")) return "MMSelfSup (BYOL) or alike";
    const std::string program = net.is_transformer() ? vit_layout(net, tensors).program : "";
    if (!program.empty()) return "ViT (DINO, DINOv2), names of " + program;
    if (file.find(prefix + "register_tokens") || file.find(prefix + "blocks.0.ls1.gamma")) return "DINOv2";
    return "plain state dict (DINO, timm, torchvision)";
  };
  return prefix.empty() ? describe() : fmt::format("{}, tensors under {}", describe(), prefix);
}

PositionResize resize_of(const std::string& prefix, const VitLayout& layout, NetworkFamily family) {
  if (family == NetworkFamily::kSiglip) return PositionResize::kExact;
  if (family == NetworkFamily::kClipVit || !layout.registers.empty()) return PositionResize::kAntialias;
  return contains(prefix, "target_encoder") ? PositionResize::kExact : PositionResize::kOffset;
}

// MoCo v3's small transformer has 12 heads where all others have 6; shapes do not show it, but other properties of its
// files do.
Architecture with_moco_heads(Architecture net, const std::string& prefix, const TensorFile& file,
                             std::vector<std::string>& notes) {
  if (net.name != "vit-s/16") return net;
  bool moco = contains(prefix, "base_encoder") || contains(prefix, "momentum_encoder");
  const StoredTensor* table = file.find(prefix + "pos_embed");
  if (!moco && table != nullptr && table->shape.size() == 3 && table->shape[2] == net.width) {
    moco = is_sine_cosine_table(file.read_floats(prefix + "pos_embed"), net.width);
  }
  if (moco) {
    net.heads = 12;
    notes.push_back("12 attention heads instead of 6, as MoCo v3 has them");
  }
  return net;
}

struct Trial {
  EncoderTensors tensors;
  OnnxModel model;
  std::vector<std::string> notes;
};

Trial attempt(const TensorFile& file, const Architecture& architecture, const std::string& prefix,
              TokenFeature feature) {
  const TensorRename rename =
      has_resnet_names(architecture.family) ? resnet_names(architecture.family, file, prefix).from_publisher : nullptr;
  Trial trial{EncoderTensors(file, prefix, rename), {}, {}};
  const Architecture net = with_moco_heads(architecture, prefix, file, trial.notes);
  switch (net.family) {
    case NetworkFamily::kVit:
    case NetworkFamily::kClipVit:
    case NetworkFamily::kDinov3Vit:
    case NetworkFamily::kSiglip: {
      const VitLayout layout = vit_layout(net, trial.tensors);
      build_vit(net, layout, resize_of(prefix, layout, net.family), feature, trial.tensors, trial.model, trial.notes);
    } break;
    case NetworkFamily::kResnet:
      build_resnet(net, trial.tensors, trial.model);
      break;
    case NetworkFamily::kWideResnet:
      build_wide_resnet(net, trial.tensors, trial.model);
      break;
    case NetworkFamily::kResnet12:
      build_resnet12(net, trial.tensors, trial.model);
      break;
    case NetworkFamily::kClipResnet:
      build_clip_resnet(net, trial.tensors, trial.model, trial.notes);
      break;
    case NetworkFamily::kConvnext:
      build_convnext(net, trial.tensors, trial.model);
      break;
    case NetworkFamily::kMobilenetV4:
      build_mobilenet_v4(net, trial.tensors, trial.model);
      break;
  }
  return trial;
}

std::vector<std::string> list_dropped(const TensorFile& file, const EncoderTensors& tensors) {
  std::vector<std::string> dropped;
  std::map<std::string, std::size_t> elsewhere;  // first part of the name: number of tensors
  for (const auto& [name, tensor] : file.tensors()) {
    if (tensors.used().contains(name)) continue;
    if (name.starts_with(tensors.prefix())) {
      if (!name.ends_with(".num_batches_tracked")) dropped.push_back(name);
    } else {
      ++elsewhere[name.substr(0, name.find('.'))];
    }
  }
  for (const auto& [part, count] : elsewhere) dropped.push_back(fmt::format("{}.* ({} tensors)", part, count));
  return dropped;
}

[[noreturn]] void no_candidate(const TensorFile& file, const Architecture& net, const EncoderChoice& choice) {
  std::string examples;
  std::size_t shown = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    if (shown++ == 3) break;
    examples += (examples.empty() ? "" : ", ") + name.substr(0, 100);
  }
  fail(ErrorKind::kInput, "{}: expected {} tensors{}, among them one ending in {}; found none among {} tensors ({})",
       file.source(), net.name, choice.within.empty() ? "" : " with \"" + choice.within + "\" in their names",
       anchors(net.family).front(), file.tensors().size(), examples.empty() ? "it holds none" : examples);
}

}  // namespace

EncoderImport import_encoder(const TensorFile& file, const Architecture& architecture, const EncoderChoice& choice) {
  if (!architecture.is_transformer() && choice.feature != TokenFeature::kUsual) {
    fail_field(ErrorKind::kUsage, "feature",
               "{} {} is a choice among the tokens of a transformer; {} has only one feature",
               token_feature_word(choice.feature), architecture.name);
  }
  if (architecture.is_transformer() && architecture.image_size < architecture.patch) {
    fail(ErrorKind::kUsage, "an image of {} pixels is smaller than one patch of {}", architecture.image_size,
         architecture.patch);
  }
  std::optional<Trial> best;
  std::vector<std::string> also;
  for (const std::string& prefix : candidate_prefixes(file, architecture, choice)) {
    Trial trial = attempt(file, architecture, prefix, choice.feature);
    if (best && best->tensors.problems().empty()) {
      if (trial.tensors.problems().empty()) also.push_back(prefix);
    } else if (!best || trial.tensors.problems().size() < best->tensors.problems().size()) {
      best.emplace(std::move(trial));
    }
  }
  if (!best) no_candidate(file, architecture, choice);
  const auto& problems = best->tensors.problems();
  if (!problems.empty()) {
    fail(ErrorKind::kInput, "{}: this is not a {}: {}{}", file.source(), architecture.name, problems.front(),
         problems.size() > 1 ? fmt::format(" (and {} more differences)", problems.size() - 1) : "");
  }
  EncoderImport result;
  result.model = std::move(best->model);
  result.layout = layout_name(best->tensors, architecture);
  result.used = best->tensors.used().size();
  result.dropped = list_dropped(file, best->tensors);
  result.notes = std::move(best->notes);
  for (const std::string& prefix : also) result.notes.push_back(fmt::format("another encoder lies under {}", prefix));
  return result;
}

}  // namespace annulus
