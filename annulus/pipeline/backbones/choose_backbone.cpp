// Ranks the networks of the catalogue by their advice.
#include "annulus/pipeline/backbones/choose_backbone.h"

#include <algorithm>
#include <array>

#include "annulus/pipeline/backbones/backbone_cost.h"
#include "annulus/pipeline/backbones/backbone_feature.h"
#include "annulus/pipeline/backbones/backbone_store.h"

namespace annulus {
namespace {

constexpr std::array<std::string_view, 3> kAdvice = {"best", "best on a CPU", "good start"};
constexpr std::size_t kOffers = 3;

// From 0, the best; kAdvice.size(): without advice.
std::size_t rank_of(const BackboneEntry& entry) {
  return static_cast<std::size_t>(std::find(kAdvice.begin(), kAdvice.end(), entry.advice) - kAdvice.begin());
}

// Three of them at most, from the smallest that is recommended to the largest that a CPU is enough for; then the usual
// one.
std::vector<BackboneOffer> offers(const std::vector<const BackboneEntry*>& recommended, const ChoiceOptions& options) {
  std::vector<BackboneOffer> result;
  for (auto entry = recommended.rbegin(); entry != recommended.rend() && result.size() + 1 < kOffers; ++entry) {
    if ((*entry)->advice.empty() || rank_of(**entry) == 0) continue;
    result.push_back({*entry, expected_seconds(**entry, options.images, options.threads)});
  }
  if (const BackboneEntry* usual = find_backbone(kUsualBackbone)) {
    result.push_back({usual, expected_seconds(*usual, options.images, options.threads)});
  }
  return result;
}

}  // namespace

std::vector<const BackboneEntry*> recommended_backbones() {
  std::vector<const BackboneEntry*> result;
  for (const BackboneEntry& entry : known_backbones()) {
    if (rank_of(entry) < kAdvice.size() && !import_obstacle(entry)) result.push_back(&entry);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const BackboneEntry* a, const BackboneEntry* b) { return rank_of(*a) < rank_of(*b); });
  if (const BackboneEntry* usual = find_backbone(kUsualBackbone)) result.push_back(usual);
  return result;
}

const BackboneEntry* better_backbone(std::string_view name) {
  const std::vector<const BackboneEntry*> recommended = recommended_backbones();
  const BackboneEntry* better = nullptr;
  for (auto entry = recommended.rbegin(); entry != recommended.rend(); ++entry) {
    if ((*entry)->name == network_of(name)) {
      better = nullptr;  // those before it were lesser ones
    } else if (better == nullptr && !(*entry)->advice.empty() && rank_of(**entry) != 0) {
      better = *entry;
    }
  }
  return better;
}

std::string choose_backbone(const ChoiceOptions& options) {
  const std::vector<const BackboneEntry*> recommended = recommended_backbones();
  const auto there = std::find_if(recommended.begin(), recommended.end(),
                                  [](const BackboneEntry* entry) { return is_cached(*entry); });
  if (there != recommended.end()) return (*there)->name;
  if (options.ask) return options.ask(offers(recommended, options));
  if (options.note) {
    options.note(std::string("backbone ") + kUsualBackbone +
                 ", since none was named and no recommended one is there (annulus backbones lists them)");
  }
  return kUsualBackbone;
}

}  // namespace annulus
