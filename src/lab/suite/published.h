// Sizes that published networks multiply: what the drawn suite takes its layers, vocabularies,
// attentions and convolutions from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::lab {

// A transformer, as the config.json of its published weights has it.
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

// A convolution as a product: `outputs` pixels an image, k = channels in x window, n = channels
// out.
struct PublishedConvolution {
  std::string_view name;
  std::int64_t outputs, k, n;
};
std::span<const PublishedConvolution> published_convolutions();

}  // namespace tessera::lab
