// Sizes of products in published networks, from which the drawn suite takes its layers,
// vocabularies, attentions and convolutions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::lab {

// The sizes of a transformer, as in the config.json of its published weights.
struct PublishedModel {
  std::string_view name;
  std::int64_t hidden;        // hidden_size
  std::int64_t inner;         // intermediate_size of a feed-forward layer
  std::int64_t heads;         // num_attention_heads
  std::int64_t shared_heads;  // num_key_value_heads
  std::int64_t head;          // elements of one head
  std::int64_t vocabulary;    // vocab_size
};
std::span<const PublishedModel> published_models();

// A convolution as a product: m = `outputs` pixels per image, k = input channels x window, n =
// output channels.
struct PublishedConvolution {
  std::string_view name;
  std::int64_t outputs, k, n;
};
std::span<const PublishedConvolution> published_convolutions();

}  // namespace tessera::lab
