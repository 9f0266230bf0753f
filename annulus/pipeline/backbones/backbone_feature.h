// The networks of the catalogue with another feature: "dinov2-vits14:mean" is dinov2-vits14 with the mean of its patch
// tokens, wherever a backbone is named.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "annulus/pipeline/backbones/backbone_catalogue.h"

namespace annulus {

// The name without its feature: "dinov2-vits14" of "dinov2-vits14:mean".
std::string_view network_of(std::string_view name);
// What stands behind the colon: "mean"; empty: nothing.
std::string_view feature_of(std::string_view name);

// Every network of the catalogue with each of cls, mean and cls+mean, by that name: the entry itself where the feature
// is its own, else one without the figures and the advice that belong to its own. The dimension of a ready ONNX file
// with another feature is 0, not known. Whether the importer can make a network is for import_obstacle to say.
const std::map<std::string, BackboneEntry, std::less<>>& featured_backbones();

// known_backbones(), each followed by itself with other features that are in the cache.
std::vector<const BackboneEntry*> listed_backbones();

// The names of "NAME+NAME"; the + of cls+mean separates nothing.
std::vector<std::string> split_joined(std::string_view text);

// A name, or several joined by "+", with this feature of each network; an empty feature leaves all as it is. No name is
// that of kAutoBackbone. A name that nothing is known of stays, for who opens it to say so. Throws Error{kUsage} about
// the field "feature" for another word, and for an ONNX file, which has the feature that it was made with.
std::string with_feature(const std::string& backbone, const std::string& feature);

}  // namespace annulus
