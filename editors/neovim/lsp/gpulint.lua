-- For Neovim 0.11 and newer: put this file into a directory `lsp` of the runtime path, and start it with `vim.lsp.enable('gpulint')`.

---@type vim.lsp.Config
return {
  cmd = { 'gpulint', 'server' },
  filetypes = {
    'terraform', 'terraform-vars', 'opentofu', 'opentofu-vars', 'hcl', 'yaml', 'yaml.helm-values', 'helm', 'json', 'jsonc',
    'bicep', 'bicep-params', 'gotmpl', 'jinja', 'template', 'sh',
  },
  root_markers = { 'gpulint.toml', '.git' },
  init_options = {
    -- `hints` at the end of a line, `lens` above it, or `off`.
    prices = 'hints',
    -- The lowest level that is shown: `error`, `warning` or `info`.
    level = 'info',
  },
}
