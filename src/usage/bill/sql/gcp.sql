-- The rows of gpulint-paid.csv out of Google's detailed usage cost export, by BigQuery.
-- Name your table where it says detailed_export, run it, and save the result below a first line `# gpulint paid 1`.
-- Processors, memory and accelerators of a machine are rows of their own: hours are those of the accelerators.
WITH machines AS (
  SELECT * FROM UNNEST(ARRAY<STRUCT<name STRING, accelerator STRING, gpus FLOAT64>>[
{machines}
  ])
),
chips AS (
  SELECT * FROM UNNEST(ARRAY<STRUCT<words STRING, accelerator STRING>>[
{chips}
  ])
),
lines AS (
  SELECT
    lower(coalesce((SELECT value FROM UNNEST(system_labels) WHERE key = 'compute.googleapis.com/machine_spec'), '')) AS type,
    lower(sku.description) AS said,
    coalesce(location.region, '') AS region,
    format_timestamp('%Y-%m', usage_start_time) AS month,
    timestamp(date_add(date_trunc(date(usage_start_time), MONTH), INTERVAL 1 MONTH)) AS month_end,
    max(usage_end_time) OVER () AS until,
    currency,
    CASE cost_type WHEN 'regular' THEN 'usage' WHEN 'tax' THEN 'tax' ELSE 'adjustment' END AS charge,
    CAST(cost AS BIGNUMERIC) + coalesce((SELECT sum(CAST(amount AS BIGNUMERIC)) FROM UNNEST(credits)), 0) AS paid,
    CAST(cost_at_list AS BIGNUMERIC) AS list,
    CASE WHEN usage.pricing_unit = 'hour' THEN CAST(usage.amount_in_pricing_units AS BIGNUMERIC) END AS hours,
    EXISTS (SELECT 1 FROM UNNEST(credits) WHERE type IN ('COMMITTED_USAGE_DISCOUNT', 'COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE')) AS is_committed,
    (SELECT value FROM UNNEST(labels) WHERE key = 'goog-k8s-cluster-name') AS cluster,
    (SELECT value FROM UNNEST(labels) WHERE key = 'goog-k8s-namespace') AS namespace,
    (SELECT regexp_extract(value, r'[^/-]*$') FROM UNNEST(labels) WHERE key = 'goog-k8s-workload-type') AS kind,
    (SELECT value FROM UNNEST(labels) WHERE key = 'goog-k8s-workload-name') AS workload,
    (SELECT value FROM UNNEST(labels) WHERE key = 'goog-k8s-node-pool-name') AS pool,
    regexp_extract(resource.name, r'[^/]*$') AS label,
    (SELECT value FROM UNNEST(labels) WHERE key = 'team') AS team
  FROM detailed_export
),
found AS (
  SELECT lines.*, machines.name AS machine,
    regexp_contains(said, r'\b(gpu|tpu)\b') AS is_chip,
    coalesce(machines.accelerator, (SELECT chips.accelerator FROM chips WHERE strpos(said, chips.words) > 0 ORDER BY length(chips.words) DESC LIMIT 1), '') AS accelerator,
    coalesce(machines.gpus, 1) AS gpus
  FROM lines LEFT JOIN machines ON machines.name = lines.type
  WHERE regexp_contains(said, r'\b(gpu|tpu)\b') OR (machines.name IS NOT NULL AND regexp_contains(said, r'\b(core|ram|cpu|memory)\b'))
),
keyed AS (
  SELECT *,
    CASE WHEN is_chip AND charge = 'usage' THEN hours / CAST(gpus AS BIGNUMERIC) END AS machine_hours,
    CASE WHEN is_committed THEN 'committed' WHEN regexp_contains(said, r'spot|preemptible') THEN 'spot' ELSE 'on_demand' END AS bought,
    CASE WHEN namespace IS NOT NULL AND workload IS NOT NULL THEN 'workload' WHEN pool IS NOT NULL THEN 'pool' WHEN label IS NOT NULL THEN 'name'
         WHEN team IS NOT NULL THEN 'tag' ELSE 'unmatched' END AS kind_of_key,
    CASE WHEN namespace IS NOT NULL AND workload IS NOT NULL THEN concat(coalesce(cluster, ''), '/', namespace, '/', coalesce(kind, ''), '/', workload)
         WHEN pool IS NOT NULL THEN concat(coalesce(concat(cluster, '/'), ''), pool) WHEN label IS NOT NULL THEN label
         WHEN team IS NOT NULL THEN concat('team=', team) ELSE '' END AS whole_key
  FROM found
)
SELECT 'gcp' AS provider,
  CASE WHEN regexp_contains(whole_key, r'{hidden}') THEN 'unmatched' ELSE kind_of_key END AS key_kind,
  CASE WHEN regexp_contains(whole_key, r'{hidden}') THEN '' ELSE whole_key END AS key,
  region, coalesce(machine, '') AS machine, accelerator, gpus, month, currency, charge,
  sum(paid) AS paid, CASE WHEN count(*) = count(list) THEN sum(list) END AS list, sum(machine_hours) AS hours,
  sum(CASE WHEN bought = 'on_demand' THEN machine_hours END) AS on_demand,
  sum(CASE WHEN bought = 'spot' THEN machine_hours END) AS spot,
  sum(CASE WHEN bought = 'committed' THEN machine_hours END) AS committed,
  sum(CASE WHEN bought = 'on_demand' AND machine_hours IS NOT NULL THEN paid END) AS on_demand_paid,
  sum(CASE WHEN bought = 'on_demand' AND machine_hours IS NOT NULL THEN list END) AS on_demand_list,
  CASE WHEN max(until) < max(month_end) OR timestamp_sub(current_timestamp(), INTERVAL 5 DAY) < max(month_end) THEN 1 END AS open,
  CASE WHEN max(until) < max(month_end)
    THEN timestamp_diff(max(until), timestamp(date_sub(date(max(month_end)), INTERVAL 1 MONTH)), MINUTE) / 1440 END AS billed_days,
  'sql-gcp' AS source
FROM keyed
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
