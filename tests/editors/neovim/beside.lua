-- Neovim 0.11 with another server on the same text, as terraform-ls would be: nobody hides what the other says.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local shared = dofile(here .. '/shared.lua')

local function other(dispatchers)
  local closing = false
  local answers = {
    initialize = { capabilities = { hoverProvider = true, textDocumentSync = 1, inlayHintProvider = true } },
    ['textDocument/hover'] = { contents = { kind = 'markdown', value = 'said by the other' } },
    ['textDocument/inlayHint'] = { { position = { line = 0, character = 0 }, label = 'hint of the other' } },
  }
  return {
    request = function(method, params, callback)
      vim.schedule(function() callback(nil, answers[method]) end)
      return true, 1
    end,
    notify = function(method, params)
      if method == 'textDocument/didOpen' then
        dispatchers.notification('textDocument/publishDiagnostics', {
          uri = params.textDocument.uri,
          diagnostics = { { range = { start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 1 } }, message = 'of the other', code = 'other' } },
        })
      end
    end,
    is_closing = function() return closing end,
    terminate = function() closing = true end,
  }
end

shared.run(function()
  vim.lsp.config('other', { cmd = other, filetypes = { 'terraform', 'tf' } })
  vim.lsp.enable({ 'gpulint', 'other' })
  shared.edit('terraform/main.tf')
  local function has(rule)
    return vim.tbl_contains(shared.rules(), rule)
  end
  shared.wait('both servers', function() return #vim.lsp.get_clients({ bufnr = 0 }) == 2 end)
  shared.wait('findings of both', function() return has('other') and has('on-demand-batch') end)
  vim.lsp.inlay_hint.enable(true, { bufnr = 0 })
  shared.wait('hints of both', function()
    local all = vim.inspect(vim.lsp.inlay_hint.get({ bufnr = 0 }))
    return all:find('hint of the other') ~= nil and all:find('10,726') ~= nil
  end)
  vim.cmd([[silent %s/node_count = 2/node_count = 4/]])
  shared.wait('new findings of one', function()
    return vim.iter(vim.diagnostic.get(0)):any(function(it) return it.message:find('21,45') ~= nil end)
  end)
  vim.cmd('silent write')
  vim.wait(500)
  vim.api.nvim_win_set_cursor(0, { 9, 12 })
  local texts = {}
  local function parameters(client) return vim.lsp.util.make_position_params(0, client.offset_encoding) end
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do
    local answer = client:request_sync('textDocument/hover', parameters(client), shared.patience_ms, 0)
    texts[client.name] = answer and answer.result and answer.result.contents.value
  end
  shared.done({ hovers = texts, rules = shared.rules() })
end)
