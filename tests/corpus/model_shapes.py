#!/usr/bin/env python3
"""Read configurations of models into rows of the table of models, and check the table against its shapes.

    python3 tests/corpus/model_shapes.py rows DIRECTORY      write rows as pricing/models.csv has them
    python3 tests/corpus/model_shapes.py widths DIRECTORY    write rows as tests/corpus/model_widths.csv has them
    python3 tests/corpus/model_shapes.py compare DIRECTORY   list cells of the table that a configuration contradicts
    python3 tests/corpus/model_shapes.py check               list sizes of the table that do not follow from its shapes

`--source TEXT` and `--as-of DAY` fill the last columns of the rows. DIRECTORY holds one `config.json` for each model, as
publishers put it beside the weights: `ORG--NAME_config.json`, `ORG--NAME/config.json` or `ORG/NAME/config.json`. This
repository contains no such files: copy them from public repositories.

`rows` and `widths` compute:
- `kv_bytes_per_token`: two bytes for each element that layers with full attention keep of a token. A latent cache keeps
  its rank.
- `swa_bytes_per_token`, `swa_window`: the same for layers with a window.
- `state_mib_per_seq`: four bytes for each element of the state of recurrent layers.
- `attention_b`: billions of parameters of all that mixes tokens. `beside_b`: encoders of images and sound, and embeddings
  of layers.
- `params_b`: embeddings, `attention_b`, `beside_b` and what lies between attention layers: dense, experts, shared experts.

`check` fails if a size differs by more than 6 % (a mixture of experts: 8 %) and `EXCEPTIONS` gives no reason.
"""

import argparse
import csv
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "pricing" / "models.csv"
WIDTHS = ROOT / "tests" / "corpus" / "model_widths.csv"

COLUMNS = (
    "model_id,aliases,modality,params_b,active_b,layers,hidden,heads,kv_heads,head_dim,vocab,dtype,ckpt_gib,max_context,"
    "attention,kv_bytes_per_token,swa_bytes_per_token,swa_window,state_mib_per_seq,special,as_of,source"
).split(",")
WIDTH_COLUMNS = (
    "model_id,intermediate,matrices,dense_layers,expert_layers,experts,experts_per_token,expert_width,shared_width,"
    "expert_hidden,attention_b,beside_b,as_of,source"
).split(",")

CACHES = "kv_bytes_per_token swa_bytes_per_token swa_window state_mib_per_seq".split()
TOLERANCE = {"dense": 0.06, "mixture": 0.08}

# Families whose layers have two matrices beside attention instead of three: no gate.
PLAIN = "gpt2 gpt_neox gptj gpt_bigcode opt bloom falcon mpt starcoder2 phi nemotron nemotron_h arcee apertus".split()
# Families that gate the output of attention without a word about it, and those whose layers all have the window.
GATED = "muse_glimmer_text muse_glimmer".split()
WINDOWED = "mistral phi3 starcoder2 voxtral_realtime_text".split()
FULL, WINDOW, RECURRENT, NONE = "full", "window", "recurrent", "none"

# Rows whose size does not follow from their shapes, and why.
EXCEPTIONS = {
    "google/gemma-4-E2B-it": "its encoders of images and sound are not counted: no source says their shapes",
    "google/gemma-4-E4B-it": "its encoders of images and sound are not counted: no source says their shapes",
    "Qwen/Qwen3.8-Flash-Next": "a mixture of experts; no source says how many parameters one token uses",
}


class Unreadable(Exception):
    """The configuration is incomplete, or has an unsupported form."""


def first(config, *keys, default=0):
    """Returns the value of the first of these keys that is set."""
    return next((config[key] for key in keys if config.get(key) is not None), default)


def text_part(config):
    """The part that describes the layers that write text."""
    for key in ("thinker_config", "text_config", "llm_config", "language_config"):
        if isinstance(config.get(key), dict):
            inner = {**config, **config[key]}
            inner.pop(key, None)
            return text_part(inner)
    return config


def spread(pattern, layers):
    """A pattern for each layer; it may be shorter than the model, or longer by its prediction layers."""
    return [pattern[at % len(pattern)] for at in range(layers)]


def kinds_of_layers(text, layers):
    """Returns the state that each layer stores."""
    pattern = text.get("hybrid_override_pattern")
    if isinstance(pattern, str) and pattern:
        return [{"M": RECURRENT, "*": FULL}.get(sign, NONE) for sign in pattern]
    named = first(text, "layers_block_type", "layer_types", default=None)
    if isinstance(named, list) and named:
        return [kind_of_name(name) for name in spread(named, layers)]
    attention = text.get("linear_attn_config")
    if isinstance(attention, dict) and attention.get("full_attn_layers"):
        full = set(attention["full_attn_layers"])
        return [FULL if at + 1 in full else RECURRENT for at in range(layers)]
    if isinstance(text.get("hybrid_layer_pattern"), list):
        return [WINDOW if sign else FULL for sign in spread(text["hybrid_layer_pattern"], layers)]
    if isinstance(text.get("local_layer_ids"), list):
        local = set(text["local_layer_ids"])
        return [WINDOW if at in local else FULL for at in range(layers)]
    if text.get("layer_group_size") and text.get("kv_lora_rank"):
        group = text["layer_group_size"]
        return [FULL if (at + 1) % group == 0 else RECURRENT for at in range(layers)]
    every = first(text, "full_attention_interval", "attn_layer_period")
    if every:
        return [FULL if (at + 1) % every == 0 else RECURRENT for at in range(layers)]
    if text.get("attention_chunk_size") and "llama4" in first(text, "model_type", default=""):
        rotates = text.get("no_rope_layers") or [1, 1, 1, 0]
        return [WINDOW if sign else FULL for sign in spread(rotates, layers)]
    every = first(text, "sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
    if isinstance(every, str):
        return [FULL if sign == "G" else WINDOW for sign in spread(every, layers)]
    if every and window_of(text):
        return [FULL if (at + 1) % every == 0 else WINDOW for at in range(layers)]
    if window_of(text) and first(text, "model_type", default="") in WINDOWED:
        return [WINDOW] * layers
    return [FULL] * layers


def kind_of_name(name):
    if any(word in name for word in ("linear", "mamba", "conv", "recurrent", "ssm")):
        return RECURRENT
    if any(word in name for word in ("sliding", "chunked", "local")):
        return WINDOW
    return NONE if name in ("moe", "mlp") else FULL


def window_of(text):
    return first(text, "sliding_window", "sliding_window_size", "attention_chunk_size")


class Shapes:
    """The properties of a model from one configuration."""

    def __init__(self, config):
        self.config = config
        self.text = text = text_part(config)
        self.layers = first(text, "num_hidden_layers", "n_layer", "n_layers", "num_layers")
        for pattern in (text.get("hybrid_override_pattern"), text.get("layers_block_type")):
            self.layers = len(pattern) if pattern else self.layers
        if text.get("block_configs"):
            raise Unreadable("each of its layers is built another way")
        self.hidden = first(text, "hidden_size", "n_embd", "d_model")
        self.heads = first(text, "num_attention_heads", "n_head", "n_heads")
        if not (self.layers and self.hidden and self.heads):
            raise Unreadable("it has no layers, no width or no heads")
        alone = 1 if text.get("multi_query") and not text.get("new_decoder_architecture") else self.heads
        self.kv_heads = first(
            text,
            "num_key_value_heads",
            "num_attention_groups",
            "multi_query_group_num",
            "num_kv_heads",
            "n_head_kv",
            default=alone,
        )
        self.head_dim = first(text, "head_dim", "attention_head_dim", "kv_channels") or self.hidden // self.heads
        self.vocab = first(text, "vocab_size", "padded_vocab_size")
        self.kinds = kinds_of_layers(text, self.layers)
        self.rank = text.get("kv_lora_rank") or 0
        self.rope = text.get("qk_rope_head_dim") or 0
        self.tied = bool(first(text, "tie_word_embeddings", default=config.get("tie_word_embeddings")))
        self.plain = first(config, "model_type", default="") in PLAIN or first(text, "model_type", default="") in PLAIN

    # Stored state: caches.

    def full_width(self):
        """Keys and values of one layer with full attention: heads and dimensions of each."""
        heads = self.kv_heads
        if self.text.get("global_head_dim"):
            if self.text.get("attention_k_eq_v") and self.text.get("num_global_key_value_heads"):
                heads = self.text["num_global_key_value_heads"]
            return heads, self.text["global_head_dim"], self.text["global_head_dim"]
        return heads, self.head_dim, self.text.get("v_head_dim") or self.head_dim

    def window_width(self):
        text = self.text
        keys = text.get("swa_head_dim") or self.head_dim
        values = text.get("swa_v_head_dim") or text.get("v_head_dim") or keys
        return text.get("swa_num_key_value_heads") or self.kv_heads, keys, values

    def keeps(self, kind):
        """Layers of a kind that keep a cache of their own; the last ones may share that of layers before them."""
        own = self.kinds[: len(self.kinds) - (self.text.get("num_kv_shared_layers") or 0)]
        return own.count(kind)

    def cache(self):
        """Bytes of a token in full layers and in those with a window."""
        ratios = self.text.get("compress_ratios")
        if ratios:
            entry = 2 * self.head_dim
            index = 2 * (self.text.get("index_head_dim") or 0)
            kept = [(entry + (index if ratio < 16 else 0)) / ratio for ratio in ratios[: self.layers] if ratio]
            return sum(kept), self.layers * entry
        if self.rank:
            return self.keeps(FULL) * 2 * (self.rank + self.rope), (
                0 if WINDOW not in self.kinds else self.keeps(WINDOW) * 2 * (self.rank + self.rope)
            )
        heads, keys, values = self.full_width()
        full = self.keeps(FULL) * 2 * heads * (keys + values)
        heads, keys, values = self.window_width()
        return full, self.keeps(WINDOW) * 2 * heads * (keys + values)

    def state_of_layer(self):
        """Elements that a recurrent layer keeps of a sequence."""
        text = self.text
        if text.get("linear_num_value_heads"):
            return text["linear_num_value_heads"] * text["linear_key_head_dim"] * text["linear_value_head_dim"]
        linear = text.get("linear_attn_config") or {}
        heads = linear.get("num_heads") or text.get("linear_num_heads")
        size = linear.get("head_dim") or text.get("linear_head_dim")
        if heads and size:
            return heads * size * size
        if text.get("layer_group_size"):
            return self.heads * self.head_dim * self.head_dim
        inner, size, _, _ = self.mamba()
        return inner * size

    def mamba(self):
        """Inner width, size of the state, heads and groups."""
        text = self.text
        size = first(text, "mamba_d_state", "ssm_state_size", "state_size")
        heads = first(text, "mamba_n_heads", "mamba_num_heads")
        each = first(text, "mamba_d_head", "mamba_head_dim")
        inner = heads * each if heads and each else first(text, "mamba_expand", "expand", default=1) * self.hidden
        return (
            (inner, size, heads, first(text, "mamba_n_groups", "n_groups", "mamba_num_groups", default=1))
            if size
            else (0, 0, 0, 0)
        )

    def parallel(self):
        """Each layer has a state in addition to attention."""
        return self.config.get("model_type") == "falcon_h1"

    def state_mib(self):
        layers = self.layers if self.parallel() else self.kinds.count(RECURRENT)
        return layers * self.state_of_layer() * 4 / 2**20 if layers else 0

    # Parameters.

    def attention_of_layer(self, kind):
        """Parameters of what mixes tokens in a layer of a kind."""
        text, hidden = self.text, self.hidden
        if kind == NONE:
            return 0
        if kind == RECURRENT:
            return self.recurrent_params()
        if text.get("compress_ratios"):
            inner, low, groups = self.heads * self.head_dim, text["o_lora_rank"], text["o_groups"]
            queries = text["q_lora_rank"] * (hidden + inner)
            return queries + hidden * self.head_dim * 2 + inner * low + groups * low * hidden
        if self.rank:
            plain, value = text.get("qk_nope_head_dim") or 0, text.get("v_head_dim") or 0
            query, low = self.heads * (plain + self.rope), text.get("q_lora_rank")
            asked = low * (hidden + query) if low else hidden * query
            index = self.index_params() if text.get("index_n_heads") else 0
            return (
                asked
                + hidden * (self.rank + self.rope)
                + self.rank * self.heads * (plain + value)
                + self.heads * value * hidden
                + index
            )
        heads, keys, values = self.full_width() if kind == FULL else self.window_width()
        asks = text.get("swa_num_attention_heads") if kind == WINDOW else None
        other = text.get("attention_other_setting") or {}
        if kind == WINDOW and other.get("num_attention_heads"):
            asks = other["num_attention_heads"]
        asks = asks or self.heads
        is_gated = text.get("attn_output_gate") or text.get("use_attn_output_gate") or text.get("model_type") in GATED
        gate = asks * keys if is_gated else 0
        alone = keys if kind == FULL and text.get("attention_k_eq_v") else keys + values
        return hidden * (asks * keys + gate + heads * alone + asks * values)

    def index_params(self):
        text = self.text
        heads, size = text["index_n_heads"], text.get("index_head_dim") or 0
        return (text.get("q_lora_rank") or self.hidden) * heads * size + self.hidden * (size + heads)

    def recurrent_params(self):
        text, hidden = self.text, self.hidden
        if text.get("linear_num_value_heads"):
            keys = text["linear_num_key_heads"] * text["linear_key_head_dim"]
            values = text["linear_num_value_heads"] * text["linear_value_head_dim"]
            return hidden * (2 * keys + 3 * values + 2 * text["linear_num_value_heads"])
        linear = text.get("linear_attn_config") or {}
        heads = (
            linear.get("num_heads")
            or text.get("linear_num_heads")
            or (self.heads if text.get("layer_group_size") else 0)
        )
        size = linear.get("head_dim") or text.get("linear_head_dim") or (self.head_dim if heads else 0)
        if heads:
            inner = heads * size
            gates = 2 * inner if linear.get("use_full_rank_gate") or text.get("layer_group_size") else 4 * size
            return hidden * (4 * inner + heads) + hidden * gates
        inner, size, heads, groups = self.mamba()
        if size:
            return hidden * (3 * inner + 2 * groups * size + heads)
        return 4 * hidden * hidden

    def attention(self):
        total = sum(self.attention_of_layer(kind) for kind in self.kinds)
        return total + (self.layers * self.recurrent_params() if self.parallel() else 0)

    def middle(self):
        """Returns the widths of everything except attention, with the number of layers of each kind."""
        text = self.text
        experts = first(text, "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
        if isinstance(experts, list):
            experts = experts[0]
        intermediate = first(
            text,
            "dense_intermediate_size",
            "intermediate_size_mlp",
            "intermediate_size",
            "ffn_hidden_size",
            "n_inner",
            "ffn_dim",
        )
        if isinstance(intermediate, list):
            intermediate = sum(intermediate) / len(intermediate)
        if text.get("block_auto_adjust_ff_dim"):
            intermediate = -(-int(text.get("block_ff_dim", intermediate) * 2 / 3) // 256) * 256
        intermediate = intermediate or 4 * self.hidden
        if text.get("use_double_wide_mlp"):
            intermediate *= 1 + (text.get("num_kv_shared_layers") or 0) / self.layers
        pattern, layers = text.get("hybrid_override_pattern"), len(self.kinds)
        if isinstance(pattern, str) and pattern:
            dense, mixed = pattern.count("-"), pattern.count("E")
        elif isinstance(text.get("layers_block_type"), list) and "moe" in text["layers_block_type"]:
            dense, mixed = text["layers_block_type"].count("mlp"), text["layers_block_type"].count("moe")
        elif not experts or experts == 1:
            dense, mixed = layers, 0
        else:
            dense = self.dense_layers(layers)
            mixed = layers - dense
        if text.get("enable_moe_block"):
            dense = mixed = layers
        each = first(text, "moe_intermediate_size", "expert_ffn_hidden_size", default=0) or first(
            text, "intermediate_size"
        )
        if isinstance(each, list):
            each = each[0]
        own = first(
            text,
            "shared_expert_intermediate_size",
            "moe_shared_expert_intermediate_size",
            "share_expert_dim",
            "shared_experts_intermediate_size",
            "shared_intermediate_size",
        )
        shared = own or first(text, "n_shared_experts", "num_shared_experts") * each
        if text.get("model_type") == "llama4_text":
            shared = text["intermediate_size"]
        if not mixed:
            experts = each = shared = 0
        return {
            "intermediate": intermediate if dense else 0,
            "matrices": 2 if self.plain else 3,
            "dense_layers": dense,
            "expert_layers": mixed,
            "experts": experts,
            "experts_per_token": (
                first(text, "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "top_k_experts")
                if mixed
                else 0
            ),
            "expert_width": each,
            "shared_width": shared,
            "expert_hidden": (
                first(text, "routed_expert_hidden_size", "moe_latent_size", "moe_hidden_size") if mixed else 0
            ),
        }

    def dense_layers(self, layers):
        text = self.text
        if isinstance(text.get("mlp_layer_types"), list):
            return text["mlp_layer_types"][:layers].count("dense")
        if isinstance(text.get("moe_layer_freq"), list):
            return text["moe_layer_freq"][:layers].count(0)
        if text.get("moe_layers_enum"):
            return layers - len(
                [at for at in str(text["moe_layers_enum"]).split(",") if at.strip() and int(at) < layers]
            )
        if text.get("interleave_moe_layer_step"):
            return layers - layers // text["interleave_moe_layer_step"]
        if text.get("decoder_sparse_step", 1) > 1:
            return layers - layers // text["decoder_sparse_step"]
        if text.get("expert_layer_period"):
            return layers - layers // text["expert_layer_period"]
        return min(first(text, "first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"), layers)

    def beside(self):
        """Parameters of encoders of images and sound, and of embeddings of layers."""
        total = sum(
            encoder_params(self.config.get(key)) for key in ("vision_config", "audio_config") if self.config.get(key)
        )
        per_layer = self.text.get("hidden_size_per_layer_input") or 0
        if per_layer:
            total += self.layers * per_layer * first(self.text, "vocab_size_per_layer_input", default=self.vocab)
        return total

    def widths(self):
        rounded = {"attention_b": billions(self.attention()), "beside_b": billions(self.beside())}
        return {**self.middle(), **rounded}

    def row(self, model_id):
        full, window = self.cache()
        special = ["tied"] if self.tied else []
        attention = {1: "mqa", self.heads: "mha"}.get(self.kv_heads, "gqa")
        if self.text.get("compress_ratios"):
            attention = "compressed"
        elif self.rank:
            special.append(f"mla:{self.rank}:{self.rope}")
            attention = "mla"
        if window and attention != "compressed":
            attention = "mla+swa" if self.rank else "swa"
            special.append(f"swa:{window_of(self.text)}:{self.kinds.count(WINDOW)}")
        if RECURRENT in self.kinds or self.parallel():
            attention = "mla+linear" if self.rank else "hybrid"
            special.append(f"hybrid:{self.kinds.count(FULL)}")
        if self.plain:
            special.append("plain")
        widths = self.widths()
        embedding = self.vocab * self.hidden * (1 if self.tied else 2)
        total = parameters(embedding, self.hidden, widths)
        active = parameters(embedding, self.hidden, {**widths, "experts": widths["experts_per_token"]})
        names = first(self.config, "architectures", default=[""])
        return {
            "model_id": model_id,
            "modality": "vlm" if self.config.get("vision_config") and "CausalLM" not in names[0] else "llm",
            "params_b": billions(total),
            "active_b": billions(active) if widths["experts"] else "",
            "layers": self.layers,
            "hidden": self.hidden,
            "heads": self.heads,
            "kv_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "vocab": self.vocab,
            "dtype": precision(self.config, self.text),
            "max_context": first(
                self.text, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", default=""
            ),
            "attention": attention,
            "kv_bytes_per_token": number(full),
            "swa_bytes_per_token": number(window) if window else "",
            "swa_window": window_of(self.text) if window else "",
            "state_mib_per_seq": number(round(self.state_mib(), 1)) if self.state_mib() else "",
            "special": " ".join(special),
        }


def encoder_params(config):
    width = first(config, "hidden_size", "width", "embed_dim", "d_model")
    middle = config.get("intermediate_size") or int(width * config.get("mlp_ratio", 4))
    layers = first(config, "num_hidden_layers", "depth", "layers", "n_layers", "encoder_layers")
    return layers * (4 * width * width + (3 if config.get("hidden_act") == "silu" else 2) * width * middle)


def parameters(embedding, hidden, widths):
    """Returns the number of all parameters, from the widths."""
    value = {key: float(widths[key] or 0) for key in WIDTH_COLUMNS[1:-2]}
    inner = value["expert_hidden"] or hidden
    of_mixture = value["matrices"] * (inner * value["experts"] * value["expert_width"] + hidden * value["shared_width"])
    of_mixture += hidden * value["experts"] + (2 * hidden * inner if value["expert_hidden"] else 0)
    of_dense = value["matrices"] * hidden * value["intermediate"]
    middle = value["dense_layers"] * of_dense + value["expert_layers"] * of_mixture
    return embedding + middle + (value["attention_b"] + value["beside_b"]) * 1e9


def precision(config, text):
    quantized = first(config, "quantization_config", default=text.get("quantization_config"))
    if not quantized:
        return first(text, "dtype", "torch_dtype", default=first(config, "dtype", "torch_dtype", default="bfloat16"))
    method, words = str(quantized.get("quant_method", "")).lower(), json.dumps(quantized).lower()
    if config.get("expert_dtype") == "fp4" or text.get("expert_dtype") == "fp4":
        return "fp4mix"
    for name, mark in (
        ("nvfp4", "nvfp4"),
        ("mxfp4", "mxfp4"),
        ("fp8", "fp8"),
        ("fp8", '"type": "float", "num_bits": 8'),
    ):
        if mark in words:
            return name
    return {"awq": "awq", "gptq": "gptq4", "bitsandbytes": "nf4", "fp8": "fp8", "compressed-tensors": "int4"}.get(
        method, "bfloat16"
    )


def billions(n):
    return number(round(n / 1e9, 3))


def number(n):
    return int(n) if n == int(n) else round(n, 3)


def configurations(directory):
    """Names and contents of the configurations below a directory."""
    for path in sorted(pathlib.Path(directory).rglob("*config.json")):
        relative = path.relative_to(directory)
        if path.name == "config.json":
            name = "/".join(relative.parts[:-1])
        elif path.name.endswith("_config.json") and "--" in path.name and "hf_quant" not in path.name:
            name = path.name.removesuffix("_config.json")
        else:
            continue
        try:
            config = json.loads(path.read_text())
            yield "/".join(name.replace("--", "/").split("/")[-2:]), Shapes(config)
        except (Unreadable, ValueError, KeyError, TypeError, AttributeError) as error:
            print(f"{relative}: {error!r}", file=sys.stderr)


def write_rows(columns, rows):
    writer = csv.DictWriter(sys.stdout, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def read_table(path):
    with path.open(newline="") as file:
        return {row["model_id"]: row for row in csv.DictReader(file)}


def compare(directory):
    """Prints cells of the table that a configuration contradicts."""
    table, found = read_table(TABLE), 0
    compared = "layers hidden heads kv_heads vocab max_context".split() + CACHES
    for name, shapes in configurations(directory):
        row = table.get(name)
        if row is None:
            print(f"{name}: not in the table")
            continue
        own = shapes.row(name)
        wrong = [
            f"{cell} {row[cell] or 'blank'}, not {own[cell]}"
            for cell in compared
            if float(row[cell] or 0) != float(own[cell] or 0)
        ]
        if wrong:
            found += 1
            print(f"{name}: {'; '.join(wrong)}")
    return found


def check():
    """Prints sizes that do not follow from the shapes, and returns how many have no reason."""
    table, widths = read_table(TABLE), read_table(WIDTHS)
    failed = compared = 0
    for name, width in widths.items():
        row = table.get(name)
        if row is None:
            print(f"{name}: widths of a model that the table does not have")
            failed += 1
            continue
        hidden, vocab = float(row["hidden"] or 0), float(row["vocab"] or 0)
        embedding = vocab * hidden * (1 if "tied" in row["special"].split() else 2)
        total = parameters(embedding, hidden, width) / 1e9
        stated = float(row["params_b"])
        if float(width["experts"] or 0) and not row["active_b"] and name not in EXCEPTIONS:
            print(f"{name}: a mixture of experts without `active_b`: NO REASON")
            failed += 1
        limit = TOLERANCE["mixture" if float(width["experts"] or 0) else "dense"]
        compared += 1
        if abs(total / stated - 1) > limit:
            reason = EXCEPTIONS.get(name)
            failed += reason is None
            apart = f"{stated} billion stated, {total:.3f} by its shapes ({total / stated - 1:+.1%})"
            print(f"{name}: {apart}: {reason or 'NO REASON'}")
    failed += check_middles(table)
    known = sum(1 for row in table.values() if row["layers"] and row["hidden"])
    print(f"{known} of {len(table)} rows have shapes, {compared} were compared with widths, {failed} failed")
    return failed


def check_middles(table):
    """A size that leaves no plausible width between attention layers contradicts its own row."""
    failed = 0
    for name, row in table.items():
        if (
            not (row["layers"] and row["hidden"] and row["vocab"] and row["modality"] in ("llm", "vlm"))
            or row["active_b"]
        ):
            continue
        if name in EXCEPTIONS or "encdec" in row["special"]:
            continue
        layers, hidden = float(row["layers"]), float(row["hidden"])
        embedding = float(row["vocab"]) * hidden * (1 if "tied" in row["special"].split() else 2)
        left = (float(row["params_b"]) * 1e9 - embedding) / layers / hidden**2
        if not 4 < left < 60:
            print(f"{name}: {left:.1f} squares of its width are left for each layer: NO REASON")
            failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("rows", "widths", "compare", "check"))
    parser.add_argument("directory", nargs="?")
    parser.add_argument("--source", default="")
    parser.add_argument("--as-of", default="")
    options = parser.parse_args()
    if options.action == "check":
        sys.exit(check() > 0)
    if not options.directory:
        parser.error("a directory of configurations is needed")
    if options.action == "compare":
        compare(options.directory)
        return
    told = {"as_of": options.as_of, "source": options.source}
    if options.action == "rows":
        write_rows(COLUMNS, [{**shapes.row(name), **told} for name, shapes in configurations(options.directory)])
    else:
        write_rows(
            WIDTH_COLUMNS,
            [{"model_id": name, **shapes.widths(), **told} for name, shapes in configurations(options.directory)],
        )


if __name__ == "__main__":
    main()
