// Which backbone to use where nobody names one.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/note.h"
#include "annulus/pipeline/backbones/backbone_catalogue.h"

namespace annulus {

inline constexpr const char* kAutoBackbone = "auto";             // the best recommended one that is there, and so on
inline constexpr const char* kQuickBackbone = "mobilenet-0.25";  // for a first minute: small, and the least accurate
inline constexpr const char* kUsualBackbone = "resnet50";        // where nothing better is there and nobody is asked

// The networks with an advice ("best", "best on a CPU", "good start") that this program can make, best first, and then
// kUsualBackbone.
std::vector<const BackboneEntry*> recommended_backbones();

// The next better network than the one of that name, for somebody who has a CPU; null: there is none to recommend.
const BackboneEntry* better_backbone(std::string_view name);

struct BackboneOffer {
  const BackboneEntry* entry = nullptr;
  double seconds = 0;  // for the images at hand, about; 0: not known
};

// Shows the offers to a person, the recommended one first, and returns the name of the one that was chosen.
using BackboneQuestion = std::function<std::string(std::span<const BackboneOffer>)>;

struct ChoiceOptions {
  std::size_t images = 0;  // that the network is for; 0: not known
  int threads = 0;         // 0: all processors
  BackboneQuestion ask{};  // empty: nobody can be asked
  NoteCallback note{};     // hears what was chosen and why where nobody was asked
};

// The best recommended network in the cache; else the answer to `ask`; else kUsualBackbone.
std::string choose_backbone(const ChoiceOptions& options);

}  // namespace annulus
