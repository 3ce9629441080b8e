-- For Neovim before 0.11: put this file into `plugin`, or run it with `dofile`. Hints need 0.10; older versions show prices in the hover.

local pattern = {
  '*.tf', '*.tofu', '*.tfvars', '*.hcl', '*.json', '*.yaml', '*.yml', '*.tpl', '*.tmpl', '*.gotmpl', '*.j2', '*.jinja',
  '*.jinja2', '*.template', '*.bicep', '*.bicepparam', '*.sh', '*.bash', '*.sbatch', '*.slurm',
}

local function root_of(path)
  local directory = vim.fn.fnamemodify(path, ':p:h')
  for _, marker in ipairs({ 'gpulint.toml', '.git' }) do
    local found = vim.fn.findfile(marker, directory .. ';')
    if found == '' then
      found = vim.fn.finddir(marker, directory .. ';')
    end
    if found ~= '' then
      return vim.fn.fnamemodify(found, ':p:s?/$??:h')
    end
  end
  return directory
end

-- One server for all files of a root.
local clients = {}

local function attach(buffer, path)
  local root = root_of(path)
  if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
    clients[root] = vim.lsp.start_client({
      name = 'gpulint',
      cmd = { 'gpulint', 'server' },
      root_dir = root,
      workspace_folders = { { name = root, uri = vim.uri_from_fname(root) } },
      init_options = { prices = 'hints', level = 'info' },
    })
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = vim.api.nvim_create_augroup('gpulint', {}),
  pattern = pattern,
  callback = function(event)
    attach(event.buf, vim.fn.fnamemodify(event.match, ':p'))
  end,
})
