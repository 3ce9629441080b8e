-- The rows of gpulint-paid.csv out of AWS's cost and usage report 2.0 (data export COST_AND_USAGE_REPORT), by Athena.
-- Name your table where it says cur2, run it, and save the result below a first line `# gpulint paid 1`.
-- The export needs resource ids and the tags of your pools switched on. With split cost allocation data switched on, add
--   AND split_line_item_parent_resource_id IS NULL
-- to the first WHERE: parts of pods stand beside their machines there, and both would count twice.
WITH machines (name, accelerator, gpus) AS (VALUES
{machines}
),
lines AS (
  SELECT
    coalesce(nullif(product_instance_type, ''), regexp_extract(line_item_usage_type, ':((ml\.)?[a-z0-9-]+\.[a-z0-9-]+)$', 1)) AS type,
    product_region_code AS region,
    date_format(line_item_usage_start_date, '%Y-%m') AS month,
    date_trunc('month', line_item_usage_start_date) + INTERVAL '1' MONTH AS month_end,
    max(line_item_usage_end_date) OVER () AS until,
    line_item_currency_code AS currency,
    CASE line_item_line_item_type
      WHEN 'Usage' THEN CASE WHEN line_item_usage_type LIKE '%UnusedBox%' OR line_item_usage_type LIKE '%UnusedDed%' THEN 'unused' ELSE 'usage' END
      WHEN 'DiscountedUsage' THEN 'usage'
      WHEN 'SavingsPlanCoveredUsage' THEN 'usage'
      WHEN 'RIFee' THEN 'unused'
      WHEN 'Fee' THEN 'purchase'
      WHEN 'Credit' THEN 'credit'
      WHEN 'Refund' THEN 'refund'
      WHEN 'Tax' THEN 'tax'
      ELSE 'adjustment' END AS charge,
    CAST(CASE line_item_line_item_type
      WHEN 'SavingsPlanCoveredUsage' THEN savings_plan_savings_plan_effective_cost
      WHEN 'DiscountedUsage' THEN reservation_effective_cost
      WHEN 'RIFee' THEN reservation_unused_amortized_upfront_fee_for_billing_period + reservation_unused_recurring_fee
      ELSE line_item_unblended_cost END AS DECIMAL(38, 12)) AS paid,
    CAST(pricing_public_on_demand_cost AS DECIMAL(38, 12)) AS list,
    CASE WHEN line_item_line_item_type IN ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage')
      AND lower(pricing_unit) IN ('hrs', 'hours', 'hour', 'hr')
      AND line_item_usage_type NOT LIKE '%EBSOptimized%' AND line_item_usage_type NOT LIKE '%Reservation:%'
      THEN CAST(line_item_usage_amount AS DECIMAL(38, 12)) END AS hours,
    CASE WHEN line_item_line_item_type IN ('DiscountedUsage', 'SavingsPlanCoveredUsage') THEN 'committed'
         WHEN line_item_usage_type LIKE '%SpotUsage%' THEN 'spot'
         ELSE 'on_demand' END AS bought,
    coalesce(element_at(resource_tags, 'aws_eks_cluster_name'), element_at(resource_tags, 'user_eks_cluster_name')) AS cluster,
    coalesce(element_at(resource_tags, 'user_karpenter_sh_nodepool'), element_at(resource_tags, 'user_eks_nodegroup_name'),
      element_at(resource_tags, 'aws_eks_nodegroup_name'), element_at(resource_tags, 'user_alpha_eksctl_io_nodegroup_name'),
      element_at(resource_tags, 'aws_autoscaling_group_name')) AS pool,
    coalesce(element_at(resource_tags, 'user_name'),
      nullif(regexp_extract(line_item_resource_id, ':(endpoint|notebook-instance)/(.+)$', 2), '')) AS label,
    element_at(resource_tags, 'user_team') AS team
  FROM cur2
  WHERE line_item_line_item_type <> 'SavingsPlanNegation'
),
keyed AS (
  SELECT lines.*, machines.accelerator, machines.gpus,
    CASE WHEN pool IS NOT NULL THEN 'pool' WHEN label IS NOT NULL THEN 'name' WHEN team IS NOT NULL THEN 'tag' ELSE 'unmatched' END AS kind_of_key,
    CASE WHEN pool IS NOT NULL THEN coalesce(cluster || '/', '') || pool WHEN label IS NOT NULL THEN label
         WHEN team IS NOT NULL THEN 'team=' || team ELSE '' END AS whole_key
  FROM lines JOIN machines ON machines.name = lines.type
)
SELECT 'aws' AS provider,
  CASE WHEN regexp_like(whole_key, '{hidden}') THEN 'unmatched' ELSE kind_of_key END AS key_kind,
  CASE WHEN regexp_like(whole_key, '{hidden}') THEN '' ELSE whole_key END AS key,
  region, type AS machine, accelerator, gpus, month, currency, charge,
  sum(paid) AS paid, CASE WHEN count(*) = count(list) THEN sum(list) END AS list, sum(hours) AS hours,
  sum(CASE WHEN bought = 'on_demand' THEN hours END) AS on_demand,
  sum(CASE WHEN bought = 'spot' THEN hours END) AS spot,
  sum(CASE WHEN bought = 'committed' THEN hours END) AS committed,
  sum(CASE WHEN bought = 'on_demand' AND hours IS NOT NULL THEN paid END) AS on_demand_paid,
  sum(CASE WHEN bought = 'on_demand' AND hours IS NOT NULL THEN list END) AS on_demand_list,
  CASE WHEN max(until) < max(month_end) OR current_date - INTERVAL '5' DAY < max(month_end) THEN 1 END AS open,
  CASE WHEN max(until) < max(month_end) THEN date_diff('minute', max(month_end) - INTERVAL '1' MONTH, max(until)) / 1440.0 END AS billed_days,
  'sql-aws' AS source
FROM keyed
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
